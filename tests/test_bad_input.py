"""Bad input to the library: one clear sentence each, that names what is wrong; never a bare error from inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jifs
from jifs.errors import InputError, JifsWarning, MismatchError

GOOD = np.random.default_rng(0).integers(0, 3, (30, 4))
Y = np.arange(30) % 2


def spoiled(value: Any, at: Any = (slice(3, 5), 2), dtype: Any = float) -> np.ndarray:
    X = GOOD.astype(dtype)
    X[at] = value
    return X


def sentence(problem: BaseException) -> str:
    """The message, which must be one line that ends like a sentence."""
    text = str(problem)
    assert text
    assert "\n" not in text
    assert text[-1] in ".?!)"
    assert "Traceback" not in text
    return text


# ---- values and shapes ---------------------------------------------------------------------------------------------

NAMED = {"a": [1.0, np.nan, 2.5, np.inf], "b": [1, 2, 3, 4]}
TABLES: list[tuple[str, Any, Any, str]] = [
    ("nan", spoiled(np.nan), Y, r"'x2'.*2 .*30"),
    ("infinity", spoiled(-np.inf), Y, r"'x2'.*2 .*30"),
    ("nan in float32", spoiled(np.nan, dtype=np.float32), Y, r"'x2'.*2 .*30"),
    ("nan in two columns", spoiled(np.nan, (4, slice(1, 3))), Y, r"'x1'.*1 .*2 columns"),
    ("nan in a named column", NAMED, [0, 1, 0, 1], r"'a'"),
    ("nan by rows in Fortran order", np.asfortranarray(spoiled(np.nan)), Y, r"'x2'.*2 .*30"),
    ("nan in a real column", spoiled(np.nan) + 0.5, Y, r"'x2'.*2 .*30"),
    ("none in text", {"a": ["u", None, "v", "u"], "b": [1, 2, 3, 4]}, [0, 1, 0, 1], r"'a'"),
    ("nan in y", GOOD, np.where(Y == 0, np.nan, 1.0), r"'y'.*NaN"),
    ("none in y", GOOD, [None, *Y[1:]], r"'y'"),
    ("no rows", np.zeros((0, 3)), [], r"0 sample"),
    ("one row", GOOD[:1], Y[:1], r"1 sample"),
    ("no features", np.zeros((5, 0)), [0, 1, 0, 1, 0], r"0 feature"),
    ("one dimension", GOOD[:, 0], Y, r"1|2D|two"),
    ("three dimensions", GOOD.reshape(30, 2, 2), Y, r"3|2D|two"),
    ("y too short", GOOD, Y[:-1], r"30 rows.*29"),
    ("y of two columns", GOOD, np.column_stack([Y, Y]), r"1d array.*\(30, 2\)"),
    ("complex", GOOD + 1j, Y, r"[Cc]omplex"),
    ("duplicate names", [("frame", ["a", "b", "a", "c"])], Y, r"'a'"),
    ("a number for a table", 7, Y, r"0D|7|int"),
    ("no table", None, Y, r"None"),
    ("objects", np.array([[object(), 1]] * 30), Y, r"object|'x0'"),
    ("no target", GOOD, None, r"requires y"),
    (
        "unknown target column",
        {"a": [1, 2], "b": [1, 2]},
        "c",
        r"'c' is not a column; the columns are 'a', 'b'",
    ),
]


def table_of(X: Any) -> Any:
    """A pandas frame where a case asks for one."""
    if isinstance(X, list) and X and isinstance(X[0], tuple):
        return pytest.importorskip("pandas").DataFrame(GOOD, columns=X[0][1])
    return X


@pytest.mark.parametrize(("X", "y", "says"), [case[1:] for case in TABLES], ids=[case[0] for case in TABLES])
def test_tables_refused(X: Any, y: Any, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        jifs.select(table_of(X), y, 2)
    sentence(caught.value)


@pytest.mark.parametrize(
    "name", ["nan", "infinity", "one row", "no features", "y too short", "duplicate names"]
)
def test_sources_and_matrices_refuse_the_same(name: str) -> None:
    X, y, says = next(case[1:] for case in TABLES if case[0] == name)
    for ask in (jifs.memory, lambda X, y: jifs.pairs(X, y, "cmi")):
        with pytest.raises(InputError, match=says) as caught:
            ask(table_of(X), y)
        sentence(caught.value)


@pytest.mark.parametrize(
    ("weight", "says"),
    [
        ([1.0] * 29, r"sample_weight has shape \(29,\).*30 rows"),
        ([-1.0] + [1.0] * 29, r"sample_weight has 1 negative"),
        ([np.nan] + [1.0] * 29, r"sample_weight"),
        ([0.0] * 30, r"every weight is zero"),
        (["heavy"] * 30, r"sample_weight"),
        (1.0, r"sample_weight"),
    ],
    ids=["short", "negative", "nan", "zero", "text", "scalar"],
)
def test_weights_refused(weight: Any, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        jifs.select(GOOD, Y, 2, sample_weight=weight)
    sentence(caught.value)


# ---- names and numbers ---------------------------------------------------------------------------------------------

SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"criterion": "jmmi"}, r"unknown criterion 'jmmi'\. Did you mean .*'jmi'"),
    ({"criterion": "JMI"}, r"unknown criterion 'JMI'\. Did you mean .*'jmi'"),
    ({"criterion": ""}, r"unknown criterion ''"),
    ({"strategy": "foward"}, r"unknown strategy 'foward'\. Did you mean 'forward'"),
    ({"info": "miller-madow"}, r"unknown information estimator 'miller-madow'\. Did you mean 'miller_madow'"),
    ({"k": -3}, r"k must be a positive whole number, not -3"),
    ({"k": 2.5}, r"k must be a positive whole number, not 2\.5"),
    ({"k": "many"}, r"k must be a positive whole number, not 'many'"),
    ({"bins": 1.5}, r"bins"),
    ({"bins": "mld"}, r"bins.*mld|mld.*bins"),
    ({"bins": -2}, r"bins"),
    ({"bins": None}, r"bins"),
    ({"task": "clas"}, r"task.*'clas'"),
    ({"discrete": ["z"]}, r"'z'"),
    ({"discrete": [9]}, r"9"),
    ({"include": ["z"]}, r"include: there is no feature 'z'"),
    ({"exclude": [4]}, r"exclude: there is no feature 4"),
    ({"stop": "sometimes"}, r"unknown stop rule 'sometimes'"),
    ({"params": {"nosuch": 1}}, r"no parameter 'nosuch'"),
    ({"n_jobs": "two"}, r"n_jobs"),
]


@pytest.mark.parametrize(
    ("more", "says"), SETTINGS, ids=lambda value: str(value) if isinstance(value, dict) else ""
)
def test_settings_refused(more: dict[str, Any], says: str) -> None:
    settings: dict[str, Any] = {"k": 2, **more}
    with pytest.raises(InputError, match=says) as caught:
        jifs.select(GOOD, Y, **settings)
    sentence(caught.value)


ODD: list[Any] = [
    None,
    0,
    -1,
    1.5,
    "",
    "?",
    True,
    [],
    ["x"],
    [[]],
    {},
    {"a": []},
    object(),
    np.nan,
    b"x",
    (1, 2),
    1j,
]
ARGUMENTS = (
    "k criterion strategy info bins task discrete sample_weight include exclude stop n_jobs progress params"
)


@pytest.mark.parametrize("argument", [*ARGUMENTS.split(), "random_state"])
def test_whatever_is_given_is_taken_or_refused_in_a_sentence(argument: str) -> None:
    """No TypeError, KeyError or AttributeError from the inside, whatever the argument."""
    faults = []
    for value in ODD:
        try:
            jifs.select(GOOD, Y, **{"k": 2, argument: value})
        except (InputError, MismatchError) as refusal:
            sentence(refusal)
        except JifsWarning:
            pass
        except Exception as problem:
            faults.append(f"{argument}={value!r}: {type(problem).__name__}: {problem}")
    assert not faults, "\n".join(faults)


def test_a_criterion_for_classes_and_a_real_target() -> None:
    with pytest.raises(
        InputError, match=r"the target 'y' holds real numbers, but criterion 'mrmr' needs classes"
    ) as e:
        jifs.select(GOOD, np.linspace(0, 1, 30), 2, "mrmr")
    assert "task='class'" in sentence(e.value)


def test_more_than_there_are_is_a_warning() -> None:
    with pytest.warns(JifsWarning, match=r"k = 9 is more than the 4 features there are; all are selected"):
        assert len(jifs.select(GOOD, Y, 9).indices) == 4


def test_one_class_is_a_warning() -> None:
    with pytest.warns(JifsWarning, match="one class only: every relevance is 0"):
        assert jifs.select(GOOD, np.zeros(30, int), 2).indices.tolist() == [0, 1]


# ---- files ---------------------------------------------------------------------------------------------------------

ROWS = "".join(f"{i % 3},{i % 2}.5,{'yes' if i % 2 else 'no'}\n" for i in range(20))
FILES: list[tuple[str, str | bytes, str]] = [
    ("nan.csv", "a,b,y\n" + ROWS + "1,nan,yes\n", r"'b'.*1 .*21"),
    ("text.csv", "a,b,y\n" + ROWS + "1,oops,yes\n", r"'b'.*oops"),
    ("empty.csv", "", r"empty"),
    ("header.csv", "a,b,y\n", r"row|sample"),
    ("one.csv", "a,b,y\n1,2,yes\n", r"1 (row|sample)"),
    ("twice.csv", "a,a,y\n" + ROWS, r"'a'"),
    ("ragged.csv", "a,b,y\n" + ROWS + "1,2\n", r"ragged\.csv.*22|22.*ragged\.csv"),
    ("target.csv", "a,b,z\n" + ROWS, r"'y'.*'a', 'b', 'z'"),
    ("noise.parquet", b"not parquet at all", r"noise\.parquet"),
    ("strange.xyz", "a,y\n1,2\n", r"strange\.xyz|xyz"),
    ("noise.npz", b"not a zip", r"noise\.npz"),
]


@pytest.mark.parametrize(("name", "content", "says"), FILES, ids=[name for name, _, _ in FILES])
def test_files_refused(name: str, content: str | bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=says) as caught:
        jifs.select(path, "y", 1)
    sentence(caught.value)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.csv", tmp_path):
        with pytest.raises(InputError, match=path.name) as caught:
            jifs.select(path, "y", 1)
        sentence(caught.value)


class Trap:
    """Leaves a mark if it is ever unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.mark,))


def test_a_pickle_is_never_loaded(tmp_path: Path) -> None:
    mark, path = tmp_path / "sprung", tmp_path / "data.npz"
    np.savez(path, X=np.array([[Trap(mark)], [Trap(mark)]], dtype=object), y=np.array([0, 1]))
    with pytest.raises(InputError, match="pickle") as caught:
        jifs.select(path, k=1)
    sentence(caught.value)
    assert not mark.exists()
    with np.load(path, allow_pickle=True) as found:
        found["X"]
    assert mark.exists()  # the trap works


def test_a_plugin_that_raises_is_named(tmp_path: Path) -> None:
    path = tmp_path / "faulty.py"
    path.write_text("x = 1\nraise RuntimeError('from inside')\n")
    with pytest.raises(InputError, match=r"faulty\.py', line 2: RuntimeError: from inside") as caught:
        jifs.load_plugin(path)
    sentence(caught.value)
