"""read_table: what is written comes back, whatever the format, and each refusal is one clear sentence."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import os
import pickle
import sys
import tempfile
import zipfile
from pathlib import Path

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jifs.errors import InputError
from jifs.readers import read_table

IRIS = "a,b,species\n1,1.5,red\n2,2.5,blue\n3,3.5,red\n"


@pytest.fixture
def write(tmp_path):
    def put(name, content):
        file = tmp_path / name
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    return put


def refused(match, file, target=None, **kwargs):
    with pytest.raises(InputError, match=match) as caught:
        read_table(file, target, **kwargs)
    text = str(caught.value)
    assert "\n" not in text
    assert "Traceback" not in text
    return text


# CSV and TSV


def test_csv(write):
    table = read_table(write("iris.csv", IRIS), "species")
    assert list(table.names) == ["a", "b"]
    assert [c.dtype for c in table.data] == [np.int64, np.float64]
    assert table.target.labels == ("blue", "red")
    assert table.target.name == "species"
    assert table.named


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.CSV", IRIS),
        ("d.csv", "\ufeff" + IRIS),
        ("d.csv", IRIS.replace("\n", "\r\n")),
        ("d.csv", IRIS.replace("\n", "\r")),
        ("d.csv", IRIS.rstrip("\n")),
        ("d.csv", "\n" + IRIS.replace("\n", "\n\n") + "  \n"),
        ("d.csv", IRIS.replace(",", ", ")),
        ("d.csv", IRIS.replace(",", ";")),
        ("d.csv", IRIS.replace(",", ";").replace(".5", ",5")),
        ("d.csv", IRIS.replace(",", "\t")),
        ("d.tsv", IRIS.replace(",", "\t")),
        ("d.csv.gz", gzip.compress(IRIS.encode())),
        ("d.tsv.gz", gzip.compress(IRIS.replace(",", "\t").encode())),
        ("d.csv", IRIS.replace("red", '"red"').replace("a,", '" a",')),
        ("v1.2.csv", IRIS),
    ],
)
def test_ways_to_write_the_same_table(write, name, content):
    table = read_table(write(name, content), "species")
    assert [c.tolist() for c in table.data] == [[1, 2, 3], [1.5, 2.5, 3.5]]
    assert table.target.labels == ("blue", "red")


def test_the_path_may_be_text(write):
    assert read_table(str(write("iris.csv", IRIS)), "species").n == 3


def test_quoted_cells_may_hold_anything(write):
    file = write("d.csv", 'x,"y, or not"\n1,"a ""b"", c"\n2,"two\nlines"\n')
    assert read_table(file, "y, or not").target.labels == ('a "b", c', "two\nlines")


def test_numbers_of_one_kind_are_one_block(write):
    table = read_table(write("d.csv", "a,b,y\n1,2,0\n3,4,1\n"))
    assert isinstance(table.data, np.ndarray)
    assert table.data.dtype == np.int64
    assert table.target.name == "y"


def test_a_first_line_of_numbers_is_no_header(write):
    file = write("d.csv", "1,2.5,0\n3,4.5,1\n5,1e3,0\n")
    table = read_table(file, "x2")
    assert table.n == 3
    assert list(table.names) == ["x0", "x1"]
    assert table.column(1).tolist() == [2.5, 4.5, 1000.0]
    refused(r"which column is the target\? Say --target NAME .* 'x0', 'x1', 'x2'", file)


@pytest.mark.parametrize("name", ["target", "Class", "y", "LABEL"])
def test_usual_names_of_targets(write, name):
    assert read_table(write("d.csv", f"a,{name},b\n1,0,2\n2,1,3\n")).target.name == name


def test_which_target(write):
    text = refused(r"--target NAME \(y= in Python\)", write("d.csv", "a,b,c,d\n1,2,3,4\n5,6,7,8\n"))
    assert "the last columns are 'b', 'c', 'd'" in text
    refused("candidates are 'y', 'label'", write("d.csv", "a,y,label\n1,2,3\n4,5,6\n"))
    text = refused("d.csv: the target 'spcies' is not a column", write("d.csv", IRIS), "spcies")
    assert "Did you mean 'species'?" in text
    assert "'a', 'b', 'species'" in text


def test_task_and_discrete_are_passed_on(write):
    file = write("d.csv", "a,b,y\n1,2,0\n3,4,1\n")
    table = read_table(file, task="real", discrete=["b"])
    assert table.target.kind == "real"
    assert table.discrete.tolist() == [False, True]
    refused("'real' cannot be", write("d.csv", IRIS), "species", task="real")


def test_text_that_python_takes_for_numbers_is_text(write):
    table = read_table(write("d.csv", "a,y\n1_000,0\n2_000,1\n"))
    assert table.column(0).tolist() == ["1_000", "2_000"]


def test_whole_numbers_beyond_64_bits_are_numbers(write):
    table = read_table(write("d.csv", "a,y\n12345678901234567890123,0\n1,1\n"))
    assert table.data.dtype == np.float64


def test_columns_with_few_numbers_are_text(write):
    table = read_table(write("d.csv", "a,y\nx,0\n1,1\nz,1\n2,1\n"))
    assert table.column(0).tolist() == ["x", "1", "z", "2"]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "d.csv: the file is empty"),
        ("\n \n\n", "d.csv: the file is empty"),
        ("a,y\n", r"0 sample\(s\)"),
        ("a,y\n1,2\n", "1 sample "),
        ("y\n1\n2\n", r"0 feature\(s\)"),
        ("a,b,y\n1,2,3\n1,2\n", "line 3 has 2 fields, but 3 are expected"),
        ("a,b,y\n1,2,3\n\n4,5,6\n1,2,3,4\n", "line 5 has 4 fields, but 3 are expected"),
        ('a,b,y\n"x\nx",2,3\n1,2\n', "line 4 has 2 fields, but 3 are expected"),
        ("a,b,a\n1,2,3\n1,2,3\n", "the header has more than one column named 'a'"),
        (",a,y\n0,1,2\n1,2,3\n", r"column 1 has no name in the header; .* index=False"),
        (
            "a,y\n1,0\n2,1\nx,1\n3,1\n",
            "column 'a' holds mostly numbers, but line 4 has the text 'x'; correct",
        ),
        ('"a\nb",y\n\n1,0\n2,1\nx,1\n3,1\n', r"column 'a\\nb' holds mostly .* line 6 has the text 'x'"),
        ("a,y\n1,0\n,1\n2,1\nNA,1\n", "column 'a' has 2 NaN values in 4 rows; remove or fill"),
        ("a,y\n1.5,0\nnan,1\n?,1\n", "column 'a' has 2 NaN values in 3 rows"),
        ("a,y\n1.5,0\ninf,1\n2,1\n", "column 'a' has 1 infinite value in 3 rows"),
        ("a,y\nu,0\n?,1\nv,1\n", r"column 'a' has 1 missing \(NaN\) value in 3 rows"),
        ("a,b,y\nu,1,0\n?,2,1\nv,NA,1\n", r"column 'a' .*\(2 columns are affected\)"),
        ("a,y\n1,0\n2,\n3,1\n", "the target 'y' has 1 NaN value in 3 rows"),
        ("a,y\n1,u\n2,\n3,v\n", r"the target 'y' has 1 missing"),
        ('a,y\n1,"unclosed\n2,3\n', r"line \d is not well formed .* check its quotes"),
        ('a,y\n1,"x"z\n2,3\n', "line 2 is not well formed"),
        ("a,y\n1," + "x" * 200_000 + "\n2,3\n", "line 2 is not well formed"),
        (b"a,y\nb\xe4r,1\n", r"the text is not UTF-8 \(line 2\); save the file as UTF-8"),
        (IRIS.encode("utf-16"), "the text is UTF-16; save the file as UTF-8"),
        (b"a,y\n1,\x002\n", "zero bytes"),
    ],
)
def test_csv_refusals(write, content, match):
    assert refused(match, write("d.csv", content)).startswith("d.csv: ")


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), min_size=1, max_size=8).filter(
    lambda t: (
        t == t.strip()
        and not _looks_like_number(t)
        and t.lower() not in ("na", "nan", "n/a", "#n/a", "<na>", "null", "?")
    )
)


def _looks_like_number(text):
    try:
        float(text)
    except ValueError:
        return "_" in text
    return True


@st.composite
def tables(draw):
    """Names, and columns of whole numbers, numbers and text."""
    m, n = draw(st.integers(1, 4)), draw(st.integers(2, 6))
    names = draw(st.lists(CELL, min_size=m + 1, max_size=m + 1, unique=True))
    kinds = st.sampled_from(
        [st.integers(-(2**62), 2**62), st.floats(allow_nan=False, allow_infinity=False), CELL]
    )
    columns = [draw(st.lists(draw(kinds), min_size=n, max_size=n)) for _ in names]
    return dict(zip(names, columns, strict=True))


def same_as(table, written):
    *features, target = written
    assert list(table.names) == features
    for j, name in enumerate(features):
        assert table.column(j).tolist() == written[name]
    codes = table.target.values.tolist()
    back = [table.target.labels[c] for c in codes] if table.target.labels else codes
    assert back == written[target]


@given(tables(), st.sampled_from([("t.csv", ","), ("t.tsv", "\t"), ("t.csv.gz", ",")]))
def test_csv_round_trip(written, form):
    name, delimiter = form
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(written)
    writer.writerows(zip(*written.values(), strict=True))
    data = text.getvalue().encode()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, name)
        file.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        same_as(read_table(file, list(written)[-1]), written)


# ARFF

WEATHER = """% a comment
@RELATION 'the weather'

@attribute outlook {sunny, overcast, 'very rainy'}
@attribute "wind speed" real
@Attribute 'it\\'s' integer   % trailing words
@attribute grade {1,2,3}
@attribute note string
@attribute play {yes, no}

@DATA
% another
sunny,1,10,1,'a, b',yes
'very rainy', 2.5, 20, 3, "say \\"x\\"", no
{1 3.5, 4 plain, 5 no}
"""


def test_arff(write):
    table = read_table(write("w.arff", WEATHER))
    assert list(table.names) == ["outlook", "wind speed", "it's", "grade", "note"]
    assert table.column(0).tolist() == ["sunny", "very rainy", "sunny"]
    assert table.column(1).tolist() == [1.0, 2.5, 3.5]
    assert table.column(1).dtype == np.float64
    assert table.column(2).tolist() == [10, 20, 0]
    assert table.column(2).dtype == np.int64
    assert table.column(3).tolist() == ["1", "3", "1"]
    assert table.column(4).tolist() == ["a, b", 'say "x"', "plain"]
    assert table.target.name == "play"
    assert table.target.labels == ("no", "yes")


def test_arff_target(write):
    head = "@relation r\n@attribute class {u,v}\n@attribute b numeric\n@data\n"
    file = write("d.arff", head + "u,1\nv,2\n{}\n")
    assert read_table(file).target.name == "class"
    table = read_table(file, "b")
    assert table.target.values.tolist() == [1, 2, 0]
    assert table.column(0).tolist() == ["u", "v", "u"]
    packed = write("d.arff.gz", gzip.compress(file.read_bytes().replace(b"\n", b"\r\n")))
    assert read_table(packed).n == 3


def test_arff_levels_may_be_followed_by_a_comment(write):
    file = write("d.arff", "@attribute a {u, '}'} % {old}\n@attribute y {0,1}\n@data\n'}',0\nu,1\n")
    assert read_table(file).column(0).tolist() == ["}", "u"]


def test_arff_levels_that_look_like_gaps(write):
    file = write("d.arff", "@relation r\n@attribute a {'?',NA}\n@attribute y {0,1}\n@data\n'?',0\nNA,1\n")
    assert read_table(file).column(0).tolist() == ["?", "NA"]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "the file is empty"),
        ("@relation r\n@attribute a real\n", "there is no @data line"),
        ("@relation r\n@data\n1,2\n", "no @attribute is declared"),
        ("hello\n", "line 1 is not ARFF: 'hello'"),
        ("@attribute a\n@data\n", "line 1 is not '@attribute NAME TYPE'"),
        ("@attribute 'a real\n@data\n", "line 1 is not '@attribute NAME TYPE'"),
        ("@attribute a {u,v\n@data\n", "line 1: the levels of attribute 'a'"),
        ("@attribute a {}\n@data\n", "line 1: the levels of attribute 'a'"),
        ("@attribute a date\n@data\n", "line 1: attribute 'a' has type 'date', .* make numbers"),
        ("@attribute a relational\n@data\n", "has type 'relational', which is not read"),
        ("@attribute a real\n@attribute a real\n@data\n", "more than one column named 'a'"),
        ("@attribute a real\n@attribute y {u,v}\n@data\n", r"0 sample\(s\)"),
        ("@attribute a real\n@attribute y {u,v}\n@data\n1,u\n2\n", "line 5 has 1 values, but 2 attributes"),
        (
            "@attribute a real\n@attribute y {u,v}\n@data\nx,u\n2,v\n",
            "'a' is declared real, but line 4 has the text 'x'",
        ),
        (
            "@attribute a real\n@attribute y {up,down}\n@data\n1,up\n2,dwn\n",
            "no level 'dwn' .*line 5.* Did you mean 'down'",
        ),
        ("@attribute a real\n@attribute y {u,v}\n@data\n?,u\n2,v\n", "column 'a' has 1 NaN value in 2 rows"),
        ("@attribute a {p,q}\n@attribute y {u,v}\n@data\n?,u\np,v\n", "column 'a' has 1 missing"),
        ("@attribute a real\n@attribute y {u,v}\n@data\n1,u\n2,?\n", "the target 'y' has 1 missing"),
        ("@attribute a real\n@attribute y {u,v}\n@data\n{2 1}\n", "line 4 gives attribute 2, .* 0 to 1"),
        ("@attribute a real\n@attribute y {u,v}\n@data\n{0 1\n", "line 4 cannot be read as a row"),
        ("@attribute a real\n@attribute y {u,v}\n@data\n{x}\n", "line 4 cannot be read as a row"),
        ("@attribute a real\n@attribute y {u,v}\n@data\n{" + "9" * 5000 + " 1}\n", "line 4 cannot be read"),
        ("@attribute a real\n@attribute y {u,v}\n@data\n'1,u\n", "line 4 cannot be read as a row"),
        ("@attribute a real\n@attribute y {u,v}\n@data\n1_0,u\n2,v\n", "the text '1_0'"),
    ],
)
def test_arff_refusals(write, content, match):
    refused(match, write("d.arff", content))


def test_a_spoilt_arff_line_is_refused_quickly(write):
    head = "@attribute a string\n@attribute y {u,v}\n@data\n"
    refused(
        "line 4 cannot be read",
        write("d.arff", head + " " * 5 + "x" + " " * 20_000 + "'" + "\\" * 20_001 + "\n"),
    )


def quoted(value):
    if not isinstance(value, str):
        return repr(value)
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\t", "\\t") + "'"


@given(tables())
def test_arff_round_trip(written):
    lines = ["@relation r"]
    for name, column in written.items():
        kinds = {type(v) for v in column}
        levels = "{" + ",".join(quoted(v) for v in dict.fromkeys(column)) + "}"
        lines.append(
            f"@attribute {quoted(name)} "
            + (levels if kinds == {str} else "real" if float in kinds else "numeric")
        )
    lines.append("@data")
    lines += [",".join(map(quoted, row)) for row in zip(*written.values(), strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "t.arff")
        file.write_bytes("\n".join(lines).encode())
        table = read_table(file, list(written)[-1])
    close = {
        k: [float(v) if isinstance(v, int) and abs(v) >= 2**53 else v for v in c] for k, c in written.items()
    }
    same_as(table, close)


# LIBSVM


@pytest.mark.parametrize("name", ["d.svm", "d.libsvm", "d.svmlight"])
def test_libsvm(write, name):
    table = read_table(write(name, "+1 1:0.5 3:2 # a comment\n-1 2:1\n+1 qid:3 1:1\n"))
    np.testing.assert_array_equal(table.data, [[0.5, 0, 2], [0, 1, 0], [1, 0, 0]])
    assert table.target.name == "target"
    assert table.target.labels == (-1.0, 1.0)
    assert list(table.names) == ["x0", "x1", "x2"]
    assert not table.named


def test_libsvm_from_zero_and_packed(write):
    table = read_table(write("d.svm.gz", gzip.compress(b"1.5 0:1 1:2\n2 0:3\n")))
    np.testing.assert_array_equal(table.data, [[1, 2], [3, 0]])
    assert table.target.kind == "real"
    assert read_table(write("d.svm", "1 0:1 1:2\n2 0:3\n"), "x1").target.values.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("a b c\n", "not in LIBSVM form, 'label index:value"),
        ("1 1:x\n", "not in LIBSVM form"),
        ("1 -1:2\n2 1:1\n", "not in LIBSVM form"),
        ("1 2:2 1:1\n", "not in LIBSVM form.*sorted"),
        ("1\n2\n", "not one index:value pair"),
        ("1 1:nan\n0 1:2\n", "column 'x0' has 1 NaN value in 2 rows"),
        ("nan 1:1\n0 1:2\n", "the target 'y' has 1 NaN"),
        ("1 1:1 2000000000:1\n" * 99_999, "would need .* GB when made dense"),
        ("1 1:1\n", "1 sample "),
    ],
)
def test_libsvm_refusals(write, content, match):
    refused(match, write("d.svm", content))


# NPZ


def test_npz(tmp_path):
    X = np.array([[1.5, 2], [3, 4], [5, 6]])
    file = tmp_path / "d.npz"
    np.savez(file, X=X, y=np.array([1, 0, 1]), feature_names=["u", "v"], target_names=["no", "yes"])
    table = read_table(file)
    np.testing.assert_array_equal(table.data, X)
    assert list(table.names) == ["u", "v"]
    assert table.target.labels == ("no", "yes")
    assert table.target.values.tolist() == [1, 0, 1]
    assert table.target.name == "target"
    assert read_table(file, "y").target.labels == ("no", "yes")
    assert read_table(file, "v").target.labels == (2.0, 4.0, 6.0)
    assert "'u', 'v'" in refused("'z' is not a column", file, "z")


def test_npz_of_a_real_target_names_it(tmp_path):
    file = tmp_path / "d.npz"
    np.savez_compressed(file, X=np.eye(3), y=np.array([1.0, 2.0, 3.0]), target_names=["rings"])
    target = read_table(file).target
    assert (target.name, target.kind) == ("rings", "real")
    assert read_table(file, "rings", task="class").target.kind == "class"


def test_npz_without_names(tmp_path):
    file = tmp_path / "d.npz"
    np.savez(file, X=np.eye(3), y=["u", "v", "u"])
    table = read_table(file)
    assert not table.named
    assert table.target.labels == ("u", "v")
    np.savez(file, X=np.array([["a", "b"], ["c", "d"]]), names=["p", "y"])
    assert read_table(file).target.labels == ("b", "d")


class Trap:
    """Unpickling this would leave a mark."""

    def __reduce__(self):
        return (_spring, ())


def _spring():
    raise AssertionError("a pickle was loaded")


@pytest.mark.parametrize("part", ["X", "y", "feature_names", "target_names"])
def test_a_pickled_npz_is_never_loaded(tmp_path, part):
    parts = {"X": np.eye(2), "y": np.array([0, 1]), "feature_names": ["u", "v"], "target_names": ["p", "q"]}
    parts[part] = np.array([Trap(), Trap()], dtype=object)
    file = tmp_path / "d.npz"
    np.savez(file, **parts)
    refused("pickled Python objects, which are never loaded; save plain arrays", file)


def test_a_bare_pickle_is_never_loaded(write):
    refused("pickled Python objects, which are never loaded", write("d.npz", pickle.dumps(Trap())))


def test_objects_that_are_not_asked_for_are_not_touched(tmp_path):
    file = tmp_path / "d.npz"
    np.savez(file, X=np.eye(2), y=[0, 1], other=np.array([Trap()], dtype=object))
    assert read_table(file).n == 2


@pytest.mark.parametrize(
    ("parts", "match"),
    [
        ({"data": np.eye(2)}, "no array 'X' in this file; it holds data"),
        ({}, "no array 'X' in this file; it holds nothing"),
        ({"X": np.eye(3)}, "which column is the target"),
        ({"X": np.zeros(3), "y": np.zeros(3)}, "Expected 2D array"),
        ({"X": np.eye(3), "y": [1, 2]}, "X has 3 rows but y has 2 values"),
        ({"X": np.eye(3), "y": [0, 1, 2], "names": ["u", "v"]}, "names has 2 entries, but X has 3"),
        ({"X": np.eye(3), "y": [0, 1, 2], "names": ["u", "v", "u"]}, "more than one column named 'u'"),
        (
            {"X": np.eye(3), "y": [0, 1, 2], "target_names": ["u", "v"]},
            "codes 0 to 2, but target_names has 2",
        ),
        ({"X": np.eye(3) * np.nan, "y": [0, 1, 2]}, r"'x0' has 3 NaN values in 3 rows \(3 columns"),
        ({"X": np.eye(3), "y": np.zeros((3, 2))}, "y should be a 1d array"),
        ({"X": np.eye(3) * 1j, "y": [0, 1, 2]}, "Complex data not supported"),
    ],
)
def test_npz_refusals(tmp_path, parts, match):
    file = tmp_path / "d.npz"
    np.savez(file, **parts)
    refused(match, file)


@given(
    hnp.arrays(
        st.sampled_from(["f8", "f4", "i2", "u1", "?"]),
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=6),
        elements={"allow_nan": False, "allow_infinity": False},
    )
)
def test_npz_round_trip(X):
    y = np.arange(len(X))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "t.npz")
        np.savez(file, X=X, y=y)
        table = read_table(file)
    assert table.data.dtype == X.dtype
    np.testing.assert_array_equal(table.data, X)
    np.testing.assert_array_equal(table.target.values, y)


# Parquet and Arrow


@pytest.fixture
def frame():
    pa = pytest.importorskip("pyarrow")
    return pa.table(
        {
            "a": [1, 2, 3],
            "b": [1.5, 2.5, 3.5],
            "c": pa.array(list("uvu")).dictionary_encode(),
            "y": list("pqp"),
        }
    )


def store(frame, file):
    import pyarrow as pa
    from pyarrow import feather, parquet

    if file.suffix in (".parquet", ".pq"):
        parquet.write_table(frame, file)
    elif file.suffix == ".feather":
        feather.write_feather(frame, file)
    else:
        make = pa.ipc.new_stream if file.suffix == ".arrow" else pa.ipc.new_file
        with pa.OSFile(str(file), "wb") as sink, make(sink, frame.schema) as writer:
            writer.write_table(frame)
    return file


ARROW = ["d.parquet", "d.pq", "d.feather", "d.arrow", "d.ipc"]


@pytest.mark.parametrize("name", ARROW)
def test_arrow_files(tmp_path, frame, name):
    table = read_table(store(frame, tmp_path / name))
    assert list(table.names) == ["a", "b", "c"]
    assert [c.tolist() for c in table.data] == [[1, 2, 3], [1.5, 2.5, 3.5], ["u", "v", "u"]]
    assert table.target.labels == ("p", "q")


@pytest.mark.parametrize("name", ARROW)
def test_broken_arrow_files(tmp_path, frame, name):
    file = store(frame, tmp_path / name)
    whole = file.read_bytes()
    for spoilt in (
        b"",
        b"hello",
        whole[: len(whole) // 2],
        whole[:-9],
        whole[:40] + b"\xff" * 40 + whole[80:],
    ):
        file.write_bytes(spoilt)
        with contextlib.suppress(
            InputError
        ):  # what is spoilt may still be read, but nothing else may be raised
            read_table(file)
    file.write_bytes(whole[: len(whole) // 2])
    refused(f"{name}: this is not a whole {file.suffix} file", file)


def test_columns_of_folder_names_are_not_invented(tmp_path, frame):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    assert list(read_table(store(frame, folder / "d.parquet")).names) == ["a", "b", "c"]


def test_the_index_of_a_pandas_frame_is_no_feature(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    data = pd.DataFrame({"a": [1.5, 2.5], "y": [0, 1]}, index=pd.Index(["r1", "r2"], name="row"))
    data.to_parquet(tmp_path / "d.parquet")
    assert list(read_table(tmp_path / "d.parquet").names) == ["a"]
    data.reset_index(drop=True).set_index(pd.Index([7, 9])).to_parquet(tmp_path / "e.parquet")
    assert list(read_table(tmp_path / "e.parquet").names) == ["a"]


def test_arrow_refusals(tmp_path):
    pa = pytest.importorskip("pyarrow")
    gap = store(pa.table({"a": [1, None], "b": ["u", "v"], "y": [0, 1]}), tmp_path / "d.parquet")
    refused("d.parquet: column 'a' has 1 NaN value in 2 rows", gap)
    twice = pa.table([pa.array([1, 2]), pa.array([3, 4])], names=["a", "a"])
    refused("more than one column named 'a'", store(twice, tmp_path / "d.arrow"))
    nested = store(pa.table({"a": [[1], [2]], "y": [0, 1]}), tmp_path / "d.feather")
    refused("column 'a' holds a ndarray in row 0", nested)


@pytest.mark.parametrize("name", ["d.parquet", "d.feather", "d.arrow"])
def test_without_pyarrow_the_message_says_what_to_install(write, monkeypatch, name):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refused(r"needs pyarrow; run pip install 'jifs\[data\]'", write(name, b"PAR1"))


def test_csv_needs_no_frame_library(write, monkeypatch):
    for name in ("pyarrow", "pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    assert read_table(write("iris.csv", IRIS), "species").m == 2


# Paths


def test_a_file_that_is_not_there(write):
    file = write("weather.csv", IRIS)
    text = refused("there is no file", file.with_name("wether.csv"))
    assert "Did you mean 'weather.csv'?" in text
    refused("its folder does not exist", file.parent / "nowhere" / "d.csv")


def test_paths_and_targets_of_the_wrong_kind(write):
    refused("a file's path is needed, not None", None)
    refused("target=1 is not a name", write("d.csv", IRIS), 1)
    refused("there is no file", "a" * 5000 + ".csv")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "d.csv")
    refused("is not a regular file", tmp_path / "d.csv")


def test_a_home_folder_is_found(write, monkeypatch):
    file = write("iris.csv", IRIS)
    monkeypatch.setenv("HOME", str(file.parent))
    monkeypatch.setenv("USERPROFILE", str(file.parent))
    assert read_table("~/iris.csv", "species").n == 3


def test_folders_and_unknown_suffixes(tmp_path, write):
    refused("is a folder; give the name of a file", tmp_path)
    for name in ("d.xlsx", "d", "d.gz", "d.npz.gz", "d.csv.bz2", ".csv"):
        text = refused("files of this kind are not read; known are", write(name, b"x"))
        assert all(
            suffix in text for suffix in (".csv", ".tsv", ".parquet", ".feather", ".arff", ".svm", ".npz")
        )


@pytest.mark.parametrize("name", ["d.csv.gz", "d.arff.gz", "d.svm.gz"])
def test_broken_gzip(write, name):
    packed = gzip.compress(IRIS.encode())
    for spoilt in (
        packed[:-9],
        packed[:12] + b"\xff\xff" + packed[14:],
        b"plain text",
        packed[:-8] + b"12345678",
    ):
        text = refused("(gzip|LIBSVM)", write(name, spoilt))
        assert text.startswith(name)


def test_broken_npz(write, tmp_path):
    np.savez_compressed(tmp_path / "w.npz", X=np.random.default_rng(0).random((50, 4)), y=np.arange(50))
    whole = (tmp_path / "w.npz").read_bytes()
    for spoilt in (
        b"",
        b"PK",
        b"hello",
        whole[: len(whole) // 2],
        whole[:-5],
        whole[:200] + b"\xff" * 50 + whole[250:],
    ):
        refused("d.npz: this is not a whole NPZ file", write("d.npz", spoilt))


def test_npz_with_members_that_are_no_arrays(tmp_path):
    file = tmp_path / "d.npz"
    for name in ("X", "X.npy"):
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(name, "hello")
        refused("'X' in this file is not an array", file)


def test_npz_names_may_be_bytes(tmp_path):
    file = tmp_path / "d.npz"
    np.savez(file, X=np.eye(2), y=[0, 1], feature_names=[b"u", b"v"], target_names=[b"p", b"q"])
    table = read_table(file)
    assert list(table.names) == ["u", "v"]
    assert table.target.labels == ("p", "q")
    np.savez(file, X=np.eye(2), y=[0, 1], target_names=[["p"], ["q"]])
    refused(r"target_names has shape \(2, 1\)", file)


def test_npz_with_a_lying_header(tmp_path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000000, 9), }"
    npy = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    file = tmp_path / "d.npz"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("X.npy", npy)
        archive.writestr("y.npy", npy)
    refused("d.npz: (there is not enough memory|this is not a whole NPZ file)", file)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of another kind")
def test_a_file_that_may_not_be_read(write, monkeypatch):
    def forbidden(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    refused(r"d.csv: the file cannot be read \(Permission denied\)", write("d.csv", IRIS))
