# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # From a table to a selection, with reasons
#
# A table has thirty measurements of cell nuclei and a diagnosis. Which five measurements would you keep, and
# why those?

# %%
from sklearn.datasets import load_breast_cancer

import jifs

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X.iloc[:3, :6]

# %% [markdown]
# One call. Columns are cut into five bins of equal frequency, and *joint mutual information* prefers the column that,
# together with those already chosen, says most about the diagnosis.

# %%
result = jifs.select(X, y, k=5, criterion="jmi")
result

# %% [markdown]
# ## Why these?
#
# Every step kept its reasons: the parts of the score, the runner-up and the margin by which it lost. A small
# margin says that the other column would have done nearly as well.

# %%
for step in result.trace:
    parts = ", ".join(f"{part} {value:.3f}" for part, value in step.parts.items())
    print(f"{step.step}. {step.name}: {step.score:.3f} ({parts})")
    if step.margin is not None:
        print(f"   ahead of {step.runner_up_name} by {step.margin:.4f}")

# %% [markdown]
# ## Relevant is not enough
#
# Each column alone, by its own information, gives another list: radius, perimeter and area tell nearly the same
# story three times. The matrix of pairwise information shows how much of each other the chosen columns repeat.

# %%
alone = jifs.select(X, y, k=5, criterion="mim")
repeated = jifs.pairs(X, y, which="mi")

for name, chosen in (("each alone (mim)", alone), ("together (jmi)", result)):
    among = repeated[chosen.indices][:, chosen.indices]
    mean = (among.sum() - among.trace()) / (len(among) * (len(among) - 1))
    print(f"{name}: {', '.join(chosen.names)}; they repeat {mean:.2f} nats of each other")

# %% [markdown]
# ## How many?
#
# `stop="permutation"` ends the search when the next column tells no more than a shuffled one would.

# %%
enough = jifs.select(X, y, k=30, criterion="cmim", stop="permutation")
print(f"{len(enough.names)} of {X.shape[1]} columns: {', '.join(enough.names)}")

# %% [markdown]
# The result goes to JSON and back, and it draws itself.

# %%
same = jifs.Result.from_json(result.to_json())
assert same.names == result.names
same.plot()
