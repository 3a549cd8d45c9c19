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
# # What the Gaussian bounds promise, and what they keep
#
# The criteria `gc_mi`, `gc_e`, `gkl_mi` and `gkl_e` model each class by a Gaussian. The features together are then a
# mixture of Gaussians, and the entropy of a mixture has no formula: the criteria use bounds. In one dimension and with
# two classes we can integrate, so we can look at the bounds beside the truth. Everything is in nats.

# %%
import numpy as np

from jifs.study.bounds import compromise_cases, entropy_bounds
from jifs.study.figures import plot_compromise_cases
from jifs.study.sample_size import sample_size_study

# %% [markdown]
# ## Two classes drift apart
#
# Two classes of variance 1 and equal priors, and a growing distance between their means (Figure 1 of Lefakis and
# Fleuret, 2014). One Gaussian fitted to both is good while they overlap, and then grows without end. The limit of
# components far apart is good when they do not overlap. The *compromise* takes the smaller of the two, and here it is
# never below the truth.

# %%
distance = np.linspace(0, 8, 161)
together = entropy_bounds((0, distance))
assert (together.entropy.true <= together.entropy.compromise + 1e-12).all()
together.plot()

# %% [markdown]
# The same for the information that the feature has about the class, with the bounds from Kullback-Leibler
# divergences. Without its constant the KL bound still is one; `p1 p2 (KL12 + KL21)` is never above it. Both soon
# exceed what can be known at all, H(Y): they order features, and should not be read as information.

# %%
together.plot(which="information", kl=True)

# %% [markdown]
# ## Where the compromise is no bound
#
# Eq. (8) takes the minimum class by class and then the mean. That is smaller than the minimum of the means, and
# nothing says that it stays above the truth. Unequal priors or unequal widths are enough to push it below, even
# where the fitted entropy exceeds that of every class. The total, min of (5) and (7), is a bound always. So `gc_mi`
# with `clip="class"`, as published, is an approximation; `clip="total"` is a bound under the model.

# %%
cases = compromise_cases()
cases

# %%
plot_compromise_cases(cases)

# %% [markdown]
# How common is that? Let the two classes have any priors and widths, and a distance of two standard deviations of the
# first one.

# %%
prior = np.linspace(0.02, 0.98, 97)
for width in (1.0, 1.5, 3.0):
    mixed = entropy_bounds((0, 2), (1, width**2), (1 - prior, prior))
    share = mixed.compromise_fails.mean()
    print(f"second class {width:g} times as wide: (8) is below the truth for {share:.0%} of the priors")

# %%
entropy_bounds((0, 2), (1, 3.0**2), (1 - prior, prior)).plot(which="information")

# %% [markdown]
# ## How many samples does a covariance need?
#
# All four criteria estimate covariances, and their fast forms divide by conditional variances, so the smallest
# eigenvalues matter. With N samples of d features the covariance is singular up to N = d; beyond, its condition
# number falls from infinity, and its log-determinant, twice an entropy, is too small by an amount that is known
# exactly. Ledoit and Wolf's shrinkage trades it for a smaller error, here in the other direction.

# %%
study = sample_size_study(30, [10, 20, 32, 40, 60, 120, 240, 480, 960], covariance=0.6, trials=20, seed=0)
study.plot()

# %%
study

# %% [markdown]
# The error of the covariance falls like the square root of d/N, slowly and without drama. The condition number is what
# hurts: a class with hardly more samples than features has a determinant that means little, and the feature looks
# informative because its class variance was underestimated. Then shrink (`reg="auto"`), or select fewer features than
# the smallest class has samples.
