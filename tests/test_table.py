"""as_table and make_target: every kind of input, no needless copies, each refusal one clear sentence."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import subprocess
import sys
from fractions import Fraction

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jifs.errors import InputError
from jifs.table import Numbered, Table, as_table, make_target, memory, refuse_nonfinite

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
sp = pytest.importorskip("scipy.sparse")

FRAMES = [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, dict]
N = 6
NUMBERS = {"a": [1.5, 2.5, 3.0, 4.0, 5.0, 6.0], "b": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]}
MIXED = {
    "f": [1.5, 2.0, 3.0, 4.0, 5.0, 6.0],
    "i": [1, 2, 3, 1, 2, 3],
    "s": list("abcabc"),
    "t": [True, False] * 3,
}


def refused(match, *args, **kwargs):
    with pytest.raises(InputError, match=match) as caught:
        as_table(*args, **kwargs)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# NumPy


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "i1", "u1", "u8", "?"])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_an_array_of_numbers_is_not_copied(dtype, order):
    X = np.zeros((N, 4), dtype=dtype)
    X = np.asfortranarray(X) if order == "F" else X[::2, ::2] if order == "strided" else X
    table = as_table(X)
    assert np.shares_memory(table.data, X)
    assert table.data.dtype == X.dtype
    assert (table.n, table.m) == X.shape
    assert not table.named


def test_an_array_with_nan_passes_because_the_encoder_looks():
    assert as_table(np.full((3, 2), np.nan)).n == 3


def test_names_of_a_nameless_array_are_lazy():
    table = as_table(np.zeros((2, 10_000)))
    assert isinstance(table.names, Numbered)
    assert len(table.names) == 10_000
    assert table.names[9_999] == table.names[-1] == table.name_of(9_999) == "x9999"
    assert table.names[1:3] == ["x1", "x2"]
    assert list(table.names)[:2] == ["x0", "x1"]
    assert "x7" in table.names
    assert "x10000" not in table.names
    with pytest.raises(IndexError):
        table.names[10_000]


@pytest.mark.parametrize("dtype", ["f2", "g", ">f8", ">i4"])
def test_dtypes_that_kernels_cannot_read_become_native_ones(dtype):
    X = np.arange(6).reshape(3, 2).astype(dtype)
    table = as_table(X)
    assert table.data.dtype.isnative
    assert table.data.dtype.itemsize in (4, 8)
    np.testing.assert_array_equal(table.data, np.arange(6).reshape(3, 2))


def test_a_memory_map_is_not_read_into_memory(tmp_path):
    X = np.memmap(tmp_path / "x.bin", dtype="f8", mode="w+", shape=(4, 3))
    assert np.shares_memory(as_table(X).data, X)


def test_object_arrays_of_numbers_become_numbers():
    floats = as_table(np.array([[1, 2.5], [3, 4]], dtype=object))
    assert [c.dtype for c in floats.data] == [np.int64, np.float64]
    ints = as_table(np.array([[1, 2], [3, 4]], dtype=object))
    assert ints.data.dtype == np.int64
    odd = as_table(np.array([[Fraction(1, 2)], [decimal.Decimal("0.25")]], dtype=object))
    assert odd.data[:, 0].tolist() == [0.5, 0.25]
    bools = as_table(np.array([[True], [np.False_]], dtype=object))
    assert bools.data.dtype == np.bool_


def test_object_arrays_of_text_become_text_columns():
    table = as_table(np.array([["a", 1], ["b", 2]], dtype=object))
    assert table.column(0).tolist() == ["a", "b"]
    assert table.column(1).dtype == np.int64


@pytest.mark.parametrize("dtype", ["U1", "S1", np.dtypes.StringDType()])
def test_arrays_of_text(dtype):
    table = as_table(np.array([["a", "b"], ["c", "d"]], dtype=dtype))
    assert [c.tolist() for c in table.data] == [["a", "c"], ["b", "d"]]


def test_lists_of_lists_keep_numbers_beside_text():
    table = as_table([[1.5, "u", 1], [2.5, "v", 2]])
    assert [c.dtype.kind for c in table.data] == ["f", "O", "i"]
    assert as_table([[1, 2], [3, 4]]).data.dtype.kind == "i"
    assert as_table(((1.5, 2), (3, 4))).data.dtype.kind == "f"


def test_what_has_only_array_is_an_array():
    class Foreign:
        def __init__(self, a):
            self.a = a

        def __array__(self, dtype=None, copy=None):
            return self.a

    X = np.eye(3)
    table = as_table(Foreign(X), Foreign(np.array([0, 1, 0])), sample_weight=Foreign(np.ones(3)))
    assert np.shares_memory(table.data, X)
    assert table.target.values.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("X", "match"),
    [
        (np.zeros(3), r"Expected 2D array, got 1D array instead .* Reshape your data"),
        ([1, 2, 3], "Expected 2D array, got 1D"),
        (np.zeros((2, 2, 2)), "Expected 2D array, got 3D"),
        (np.float64(3), "Expected 2D array, got 0D"),
        (object(), "Expected 2D array, got 0D"),
        (pd.Series([1, 2]), "got 1D array"),
        (pl.Series([1, 2]), "got 1D array"),
        (np.ones((3, 2)) * 1j, "Complex data not supported"),
        (np.array([[1j], [2]], dtype=object), "Complex data not supported: column 'x0'"),
        (np.zeros((3, 2), dtype="M8[D]"), "dates or times"),
        (np.zeros(3, dtype=[("a", "f8"), ("b", "i8")]), "structured array with fields 'a', 'b'"),
        (np.zeros((2, 2), dtype="V4"), "numbers or text"),
        (np.array([[b"\xff"], [b"a"]]), "column 'x0' holds bytes that are not UTF-8"),
        (np.array([["a"], [3]], dtype=object), r"column 'x0' mixes numbers and text \(row 0 holds 'a'\)"),
        ([[1, 2], [3]], "X is ragged: row 1 has 1 values, row 0 has 2"),
        (np.ma.masked_invalid([[1.0, np.nan], [1.0, 2.0]]), "masked array with 1 masked"),
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((1, 3)), "1 sample "),
        (np.empty((12, 0)), r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required\."),
        ([], "Expected 2D"),
        ([[], []], r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        (None, "X is None"),
        ("data.csv", "read_table reads files"),
        (np.array([[10**400], [1]], dtype=object), "column 'x0' holds a number too large"),
    ],
)
def test_refusals(X, match):
    refused(match, X)


def test_a_cell_that_is_no_value_is_a_type_error_too():
    X = np.ones((4, 2)).astype(object)
    X[1, 1] = {"foo": "bar"}
    with pytest.raises(TypeError, match=r"column 'x1' .*argument must be .* string.* number"):
        as_table(X)
    refused("holds a dict in row 1", X)


def test_one_row_is_enough_when_asked_for():
    assert as_table(np.ones((1, 2)), min_rows=1).n == 1


# Frames


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_of_one_number_kind_are_one_block(frame):
    table = as_table(frame(NUMBERS))
    assert isinstance(table.data, np.ndarray)
    np.testing.assert_array_equal(table.data, np.column_stack(list(NUMBERS.values())))
    assert list(table.names) == ["a", "b"]
    assert table.named


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_of_mixed_kind_are_columns(frame):
    table = as_table(frame(MIXED))
    assert [c.dtype.kind.replace("U", "O") for c in table.data] == ["f", "i", "O", "b"]
    assert [c.tolist() for c in table.data] == list(MIXED.values())
    assert table.column(2).tolist() == MIXED["s"]


@pytest.mark.parametrize("frame", FRAMES)
def test_the_target_can_be_named(frame):
    table = as_table(frame(MIXED), "s")
    assert list(table.names) == ["f", "i", "t"]
    assert table.target.labels == ("a", "b", "c")
    assert table.target.name == "s"
    block = as_table(frame({**NUMBERS, "s": MIXED["s"]}), "s")
    assert block.data.shape == (N, 2)
    assert refused(r"the target 'S' is not a column; the columns are 'f', 'i', 's', 't'\.", frame(MIXED), "S")
    assert "Did you mean" in refused("speceis", frame({"species": [1, 2], "size": [2, 3]}), "speceis")


def test_a_pandas_block_is_a_view_also_without_the_target():
    base = np.arange(20.0).reshape(10, 2)
    frame = pd.DataFrame(base, columns=["a", "b"])
    assert np.shares_memory(as_table(frame).data, frame["a"].to_numpy())
    frame["label"] = list("ab") * 5
    assert np.shares_memory(as_table(frame, "label").data, frame["a"].to_numpy())


def test_columns_of_a_mapping_are_not_copied_when_mixed():
    a, b = np.arange(4), np.arange(4.0)
    table = as_table({"a": a, "b": b})
    assert np.shares_memory(table.column(0), a)
    assert np.shares_memory(table.column(1), b)


def test_a_narwhals_frame_is_a_frame():
    nw = pytest.importorskip("narwhals")
    assert as_table(nw.from_native(pl.DataFrame(NUMBERS))).data.shape == (N, 2)


def test_column_names_become_text():
    table = as_table(pd.DataFrame(np.zeros((3, 2))), names=None)
    assert list(table.names) == ["0", "1"]
    frame = pd.DataFrame({0: [1.5, 2.5], "label": ["u", "v"], ("a", 1): [1.0, 2.0]})
    assert list(as_table(frame, "label").names) == ["0", "('a', 1)"]
    assert as_table(frame, "0").target.kind == "real"


CATEGORIES = [
    pd.Series(["u", "v", "u"], dtype="category"),
    pd.Categorical(["u", "v", "u"], categories=["v", "u", "w"]),
    pl.Series(["u", "v", "u"], dtype=pl.Categorical),
    pl.Series(["u", "v", "u"], dtype=pl.Enum(["v", "u"])),
    pa.chunked_array([pa.array(["u", "v", "u"]).dictionary_encode()]),
]


@pytest.mark.parametrize("column", CATEGORIES)
def test_categories_are_text_in_X_and_classes_in_y(column):
    table = as_table({"c": column, "d": [1.0, 2.0, 3.5]}, column)
    assert table.column(0).tolist() == ["u", "v", "u"]
    assert table.target.labels == ("u", "v")
    assert table.target.values.tolist() == [0, 1, 0]
    with pytest.raises(InputError, match="categories"):
        make_target(column, task="real")


def test_categories_that_are_numbers_are_not_taken_for_numbers():
    c = pd.Series([1.5, 2.5, 10.5], dtype="category")
    table = as_table(pd.DataFrame({"c": c, "x": [1.0, 2.0, 3.0]}), c)
    assert table.column(0).tolist() == ["1.5", "2.5", "10.5"]
    assert table.target.kind == "class"
    assert table.target.labels == (1.5, 2.5, 10.5)


def test_intervals_of_pandas_cut_are_levels():
    cut = pd.cut(pd.Series([1.0, 2.0, 3.0, 4.0]), 2)
    table = as_table(pd.DataFrame({"c": cut, "x": [1.0, 2.0, 3.0, 4.0]}), cut)
    assert len(set(table.column(0))) == 2
    assert table.target.values.tolist() == [0, 0, 1, 1]


GAPS = [
    ({"a": pd.array([1, None, 3], dtype="Int64"), "s": ["u", "v", "w"]}, "'a' has 1 NaN value in 3 rows"),
    ({"a": pd.array([True, None, False], dtype="boolean")}, "'a' has 1 NaN value"),
    ({"s": pd.Series(["u", None, "w"])}, r"'s' has 1 missing \(NaN\) value in 3 rows"),
    ({"s": ["u", float("nan"), None]}, r"'s' has 2 missing \(NaN\) values in 3 rows"),
    ({"s": pd.array(["u", pd.NA, "w"], dtype="string")}, "'s' has 1 missing"),
    ({"c": pd.Series(["u", None, "w"], dtype="category")}, "'c' has 1 missing"),
    ({"c": pl.Series(["u", None, "w"], dtype=pl.Categorical)}, "'c' has 1 missing"),
    ({"c": pa.chunked_array([pa.array(["u", None, "w"]).dictionary_encode()])}, "'c' has 1 missing"),
    ({"i": pl.Series([1, None, 3]), "s": ["u", "v", "w"]}, "'i' has 1 NaN value"),
    ({"i": pa.chunked_array([[1, None, 3]]), "s": ["u", "v", "w"]}, "'i' has 1 NaN value"),
    ({"d": pa.chunked_array([pa.array([decimal.Decimal(1), None, None])])}, "'d' has 2 NaN values"),
]


@pytest.mark.parametrize(("columns", "match"), GAPS)
def test_gaps_are_named(columns, match):
    with pytest.raises(InputError, match=match):
        refuse_nonfinite(as_table(columns))


def test_gaps_of_whole_frames():
    for frame in (pl.DataFrame({"a": [1, None], "b": [1, 2]}), pa.table({"a": [1, None], "b": [1, 2]})):
        with pytest.raises(InputError, match="column 'a' has 1 NaN value in 2 rows; remove or fill"):
            refuse_nonfinite(as_table(frame))


@pytest.mark.parametrize(
    ("column", "match"),
    [
        (pd.date_range("2020", periods=3), "column 'd' holds dates or times; make numbers"),
        (pd.date_range("2020", periods=3, tz="UTC"), "dates or times"),
        (pd.Series(pd.to_timedelta([1, 2, 3])), "dates or times"),
        (pl.Series([dt.date(2020, 1, 1)] * 3), "dates or times"),
        (pl.Series([dt.time(1)] * 3), "dates or times"),
        ([dt.datetime(2020, 1, 1)] * 3, "dates or times"),
        (pd.Series(pd.period_range("2020", periods=3, freq="D")), "column 'd' holds a Period in row 0"),
        (pl.Series([[1], [2], [3]]), "column 'd' holds a ndarray in row 0"),
        (pl.Series([{"u": 1}] * 3), "column 'd'"),
        (pl.Series([1, 2, 3], dtype=pl.Int128), "column 'd' of type Int128 cannot become"),
        (np.array([1j, 2, 3]), "Complex data not supported: column 'd'"),
        (np.zeros((3, 2)), r"column 'd' has shape \(3, 2\)"),
        (5, "column 'd' is the single value 5"),
        ("abc", "column 'd' is the single value 'abc'"),
        (None, "column 'd' is a NoneType"),
        ([1, 2], "column 'd' has 2 rows, but 'a' has 3"),
        (np.ma.masked_equal([1, 2, 3], 2), "column 'd' is a masked array"),
    ],
)
def test_columns_that_cannot_be_read_are_named(column, match):
    refused(match, {"a": [1, 2, 3], "d": column})


def test_dates_in_frames_are_named():
    refused("column 'd' holds dates", pd.DataFrame({"a": [1, 2], "d": pd.date_range("2020", periods=2)}))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2, 3]] * 3, columns=["a", "b", "a"]),
        pa.table([pa.array([1, 2]), pa.array([3, 4])], names=["a", "a"]),
    ],
)
def test_a_duplicate_name_is_named(frame):
    refused("more than one column named 'a'", frame)


def test_names_that_are_alike_as_text_are_duplicates():
    refused("more than one column named '1'", pd.DataFrame({1: [1, 2], "1": [3, 4]}))
    refused("more than one column named '1'", {1: [1, 2], "1": [3, 4]})


def test_frames_without_features_or_rows():
    refused(r"0 feature\(s\)", pd.DataFrame(index=range(3)))
    refused(r"0 feature\(s\) \(shape=\(2, 0\)\)", {"y": [1, 2]}, "y")
    refused(r"0 sample\(s\)", pl.DataFrame({"a": [], "b": []}))
    refused(r"0 feature\(s\)", {})


# Sparse


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_matrix, sp.dok_array])
def test_sparse_is_made_dense(kind):
    dense = np.array([[0, 1, 0], [2, 0, 0]], dtype=np.int32)
    table = as_table(kind(dense))
    np.testing.assert_array_equal(table.data, dense)
    assert table.data.dtype == np.int32


def test_sparse_that_is_too_large_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(memory, "_available_bytes", lambda: 10**9)
    X = sp.coo_array(([1.0], ([0], [0])), shape=(10**6, 10**6))
    refused(r"would need 8000\.00 GB when made dense, more than half of the 1\.00 GB", X)
    monkeypatch.setattr(memory, "_available_bytes", lambda: None)
    assert as_table(sp.eye_array(3)).m == 3


def test_available_memory_is_a_number_or_unknown():
    found = memory._available_bytes()
    assert found is None or found > 2**20


# Names, tables


def test_names_can_be_given():
    table = as_table(np.zeros((3, 2)), names=["u", "v"])
    assert table.named
    assert list(table.names) == ["u", "v"]
    refused("names has 3 entries, but X has 2 columns", np.zeros((3, 2)), names=list("uvw"))
    for wrong in ("uv", 5):
        refused("names must be a list with one name per column", np.zeros((3, 2)), names=wrong)
    refused("names has more than one column named 'u'", np.zeros((3, 2)), names=["u", "u"])


def test_a_named_column_of_an_array_can_be_the_target():
    X = np.array([[1.0, 5.0, 0.0], [2.0, 6.0, 1.0], [3.0, 7.0, 0.0]])
    for y, names in (("x1", None), (np.str_("x1"), None), ("v", ["u", "v", "w"])):
        table = as_table(X, y, names=names)
        assert table.target.values.tolist() == [0, 1, 2]
        np.testing.assert_array_equal(table.data, X[:, [0, 2]])
        assert list(table.names) == (["x0", "x2"] if names is None else ["u", "w"])
        assert type(table.target.name) is str


def test_a_table_is_itself():
    table = as_table(np.zeros((3, 2)), [0, 1, 0])
    assert as_table(table) is table
    other = as_table(table, sample_weight=[1, 2, 0], discrete=[1])
    assert other.data is table.data
    assert other.target is table.target
    assert other.weights.tolist() == [1, 2, 0]
    assert other.discrete.tolist() == [False, True]
    assert as_table(other, [1.5, 2.5, 3.0]).target.kind == "real"


def test_the_task_of_a_table_can_be_changed():
    table = as_table(np.zeros((3, 2)), [3, 5, 3])
    real = as_table(table, task="real")
    assert real.target.kind == "real"
    assert real.target.values.tolist() == [3, 5, 3]
    assert as_table(real, task="class").target.labels == (3.0, 5.0)
    assert as_table(table, task="class") is table


def test_a_column_taken_from_a_table_of_mixed_columns():
    table = as_table(as_table(MIXED, discrete=["i"]), "s")
    assert list(table.names) == ["f", "i", "t"]
    assert table.discrete.tolist() == [False, True, False]
    assert table.target.labels == ("a", "b", "c")


def test_repr_tells_the_shape():
    assert repr(as_table(MIXED, "s")) == "Table(6 rows, 3 columns, target 's' (class))"


# refuse_nonfinite


def test_refuse_nonfinite_counts():
    X = np.zeros((100, 5), dtype=np.float32)
    X[[1, 2], 3] = np.nan
    X[3, 3] = np.inf
    with pytest.raises(InputError) as caught:
        refuse_nonfinite(as_table(X))
    wanted = "column 'x3' has 2 NaN and 1 infinite value in 100 rows; remove or fill them first."
    assert str(caught.value) == wanted
    X[0, 4] = -np.inf
    with pytest.raises(InputError, match=r"'x3' has .* in 100 rows \(2 columns are affected\); remove"):
        refuse_nonfinite(as_table(X))


def test_refuse_nonfinite_of_columns_and_of_whole_tables():
    table = as_table({"a": [1, 2, 3], "b": [1.0, np.inf, -np.inf], "s": list("uvw")})
    with pytest.raises(InputError, match="column 'b' has 2 infinite values in 3 rows"):
        refuse_nonfinite(table)
    with pytest.raises(InputError, match="NaN or infinite"):
        refuse_nonfinite(as_table(np.zeros((3, 2))))


# The target

CLASSES = [
    ([3, 1, 3], (1, 3)),
    (["b", "a", "b"], ("a", "b")),
    ([True, False, True], (False, True)),
    ([2.0, -1.0, 2.0], (-1.0, 2.0)),
    (np.array([3, 1, 3], dtype=np.uint8), (1, 3)),
    (np.array([2**64 - 1, 2**64 - 3, 2**64 - 1], dtype=np.uint64), (2**64 - 3, 2**64 - 1)),
    (np.array([2**62, -(2**62), 2**62]), (-(2**62), 2**62)),
    (np.array([127, -128, 127], dtype=np.int8), (-128, 127)),
    (np.array([[3], [1], [3]]), (1, 3)),
    (np.array(["b", "a", "b"]), ("a", "b")),
    (np.array(["b", "a", "b"], dtype=object), ("a", "b")),
    (np.array([b"b", b"a", b"b"]), ("a", "b")),
    (np.array([1, 0, 1], dtype=object), (0, 1)),
    (pd.Series([3, 1, 3], name="t"), (1, 3)),
    (pd.Series(["b", "a", "b"]), ("a", "b")),
    (pd.Index([3, 1, 3]), (1, 3)),
    (pd.DataFrame({"t": [3, 1, 3]}), (1, 3)),
    (pd.array([3, 1, 3], dtype="Int64"), (1, 3)),
    (pd.Series([3, 1, 3], dtype="category"), (1, 3)),
    (pl.Series("t", ["b", "a", "b"]), ("a", "b")),
    (pl.Series([True, False, True]), (False, True)),
    (pa.array(["b", "a", "b"]), ("a", "b")),
    (pa.chunked_array([[3, 1], [3]]), (1, 3)),
    (range(0, -2, -1), (-1, 0)),
    ([1e300, -1e300, 1e300], (-1e300, 1e300)),
    ([0.0, -0.0, 0.0], (0.0,)),
]


@pytest.mark.parametrize(("y", "labels"), CLASSES)
def test_classes(y, labels):
    target = make_target(y)
    assert target.kind == "class"
    assert target.labels == labels
    assert target.values.dtype == np.intp
    assert json.loads(json.dumps(target.labels)) == list(labels)
    assert all(type(label) in (int, float, str, bool) for label in target.labels)


@given(hnp.arrays(st.sampled_from(["i8", "i1", "u1", "u8", "f4", "f8", "U2", "?"]), st.integers(1, 40)))
def test_codes_are_those_of_unique(y):
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        with pytest.raises(InputError, match="the target 'y'"):
            make_target(y)
        return
    labels, codes = np.unique(y, return_inverse=True)
    target = make_target(y, task="class")
    np.testing.assert_array_equal(target.values, codes)
    assert target.labels == tuple(labels.tolist())


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60))
def test_small_ranges_with_holes(y):
    labels, codes = np.unique(y, return_inverse=True)
    target = make_target(np.array(y, dtype=np.int16))
    assert target.values.tolist() == codes.tolist()
    assert target.labels == tuple(labels.tolist())


def test_codes_do_not_share_the_memory_of_y():
    y = np.array([0, 1, 0, 1])
    assert not np.shares_memory(make_target(y).values, y)


def test_real_targets():
    target = make_target([1.5, 2, 3])
    assert (target.kind, target.labels) == ("real", ())
    assert target.values.dtype == np.float64
    assert make_target([1, 2, 3], task="real").kind == "real"
    assert make_target(np.array([True, False]), task="real").values.tolist() == [1.0, 0.0]
    assert make_target(np.array([1.5, 2], dtype=np.float32)).values.dtype == np.float64
    assert make_target([1.5, 2.5, 1.5], task="class").labels == (1.5, 2.5)


@pytest.mark.parametrize(
    ("y", "match"),
    [
        ([1.0, np.nan, np.nan], "the target 'y' has 2 NaN values in 3 rows; remove those rows first"),
        ([1.0, np.inf, 2.0], "the target 'y' has 1 infinite value in 3 rows"),
        (["a", None, "b"], r"the target 'y' has 1 missing \(NaN\) value in 3 rows"),
        (["a", float("nan"), "b"], "has 1 missing"),
        (pd.Series([1, None, 2], dtype="Int64"), "has 1 NaN value"),
        (pl.Series(["a", None]), "has 1 missing"),
        (pl.Series(["a", None], dtype=pl.Categorical), "has 1 missing"),
        ([None, None], "the target 'y' has 2 NaN values"),
        (np.zeros((3, 2)), r"y should be a 1d array, got shape \(3, 2\)"),
        (5, "the target 'y' is the single value 5"),
        (None, "requires y to be passed, but the target y is None"),
        (object(), "the target 'y' is a object"),
        ({1, 2}, "the target 'y' is a set; an array with one value per row is needed"),
        ({"a": [1, 2]}, "the target 'y' is a dict"),
        ([1j, 2], "Complex data not supported"),
        (["a", 1], "the target 'y' mixes numbers and text"),
        (np.zeros(3, dtype="M8[s]"), "the target 'y' holds dates"),
        ([], r"0 sample\(s\)"),
        ([[1], [2, 3]], "ragged"),
        (sp.csr_array([[1], [0]]), "the target 'y'"),
        (np.ma.masked_equal([1, 2, 3], 2), "masked"),
    ],
)
def test_target_refusals(y, match):
    with pytest.raises(InputError, match=match):
        make_target(y)


def test_tasks_that_cannot_be():
    with pytest.raises(InputError, match="'real' cannot be; use task='class'"):
        make_target(["a", "b"], task="real")
    with pytest.raises(InputError, match="task='regression' is not known; use 'class', 'real'"):
        make_target([1, 2], task="regression")


def test_lengths_must_match():
    refused("X has 3 rows but y has 2 values", np.zeros((3, 2)), [1, 2])


def test_the_targets_name():
    X = np.zeros((3, 2))
    assert as_table(X, [1, 2, 3]).target.name == "y"
    assert as_table(X, pd.Series([1, 2, 3], name="t")).target.name == "t"
    assert as_table(X, pl.Series([1, 2, 3])).target.name == "y"
    assert as_table(X, pd.Series([1, 2, 3], name=7)).target.name == "y"
    refused("the target 't' has 1 NaN", X, pd.Series([1, None, 2], name="t"))


# Weights


@pytest.mark.parametrize(
    ("weights", "kind"),
    [([1, 2, 0], "i"), ([0.5, 1, 0], "f"), (np.array([True, False, True]), "i"), (pd.Series([1, 2, 3]), "i")],
)
def test_weights(weights, kind):
    table = as_table(np.zeros((3, 1)), sample_weight=weights)
    assert table.weights.dtype in (np.int64, np.float64)
    assert table.weights.dtype.kind == kind
    assert not np.shares_memory(table.weights, np.asarray(weights))


def test_huge_weights_stay_positive():
    assert (
        as_table(np.zeros((2, 1)), sample_weight=np.array([2**63 + 1, 1], dtype=np.uint64)).weights.min() == 1
    )


@pytest.mark.parametrize(
    ("weights", "match"),
    [
        ([1, 2], r"sample_weight has shape \(2,\), but one weight for each of 3 rows"),
        (np.ones((3, 2)), r"sample_weight has shape \(3, 2\)"),
        ([1, -1, -2], r"sample_weight has 2 negative value"),
        ([1, np.nan, 1], "sample_weight has 1 NaN value in 3 rows; every weight must be finite"),
        ([1, np.inf, 1], "sample_weight has 1 infinite"),
        ([0, 0, 0], "sample_weight: every weight is zero"),
        (["a", "b", "c"], "sample_weight holds text"),
        (3.0, "sample_weight is the single value"),
        ([1j, 1, 1], "Complex data not supported: sample_weight"),
    ],
)
def test_weights_refused(weights, match):
    refused(match, np.zeros((3, 1)), sample_weight=weights)


# Which columns are discrete


@pytest.mark.parametrize(
    "discrete",
    [
        [False, True, False],
        np.array([False, True, False]),
        ["b"],
        "b",
        [1],
        np.array([1], dtype=np.uint8),
        {"b"},
        ("b",),
        pd.Series([False, True, False]),
        pd.Index(["b"]),
        np.array(["b"], dtype=object),
    ],
)
def test_discrete(discrete):
    table = as_table(np.zeros((2, 3)), names=list("abc"), discrete=discrete)
    assert table.discrete.dtype == np.bool_
    assert table.discrete.tolist() == [False, True, False]


def test_discrete_by_default_is_unknown_and_none_is_none():
    assert as_table(np.zeros((2, 3))).discrete is None
    assert as_table(np.zeros((2, 3)), discrete=[]).discrete.tolist() == [False] * 3
    assert as_table(np.zeros((2, 3)), discrete=["x2"]).discrete.tolist() == [False, False, True]


def test_text_is_discrete_whatever_is_said():
    assert as_table(MIXED, discrete=["i"]).discrete.tolist() == [False, True, True, False]


def test_discrete_counts_features_without_the_target():
    assert as_table(MIXED, "f", discrete=[0]).discrete.tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("discrete", "match"),
    [
        ([True, False], "discrete is a mask of 2 entries, but X has 3 features"),
        ([3], "discrete: there is no column 3; features are 0 to 2"),
        ([-1], "discrete: there is no column -1"),
        (["alphx"], r"discrete: 'alphx' is not a column; the columns are .* Did you mean 'alpha'\?"),
        ({"alpha", 1}, "discrete: '1' is not a column"),
        ([[1], [1, 2]], "discrete is ragged"),
        ([0.5], "discrete must be a mask"),
        (True, "discrete must be a mask"),
        ([[True, False, True]], "discrete must be a mask"),
    ],
)
def test_discrete_refused(discrete, match):
    refused(match, np.zeros((2, 3)), names=["alpha", "beta", "gamma"], discrete=discrete)


def test_many_columns_are_not_all_listed():
    refused(r"'x4', \.\.\. \(2000 in all\)", np.zeros((2, 2000)), "nope")


# Imports


def test_arrays_need_no_import_but_numpy():
    code = (
        "import sys, numpy as np, jifs.table as t; t.as_table(np.ones((5, 2)), np.arange(5), discrete=[0],"
        " sample_weight=np.ones(5)); names = 'pandas polars pyarrow narwhals scipy numba sklearn'.split();"
        " print([m for m in names if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


# Round trips


@given(
    hnp.arrays(
        st.sampled_from(["f8", "i4", "?"]),
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=5),
    ),
    st.sampled_from([pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, dict, sp.csr_array, list]),
)
def test_every_home_of_the_same_numbers_gives_the_same_table(X, kind):
    named = {f"c{j}": X[:, j] for j in range(X.shape[1])}
    given_as = kind(X) if kind is sp.csr_array else X.tolist() if kind is list else kind(named)
    table = as_table(given_as)
    assert isinstance(table, Table)
    np.testing.assert_array_equal(table.data, X)
    assert table.data.dtype.kind == X.dtype.kind
