"""TextLineDataset, TFRecordDataset, FixedLengthRecordDataset, list_files, CsvDataset, make_csv_dataset, parsed Examples."""
import gzip
import os
import zlib

from data_cases import WORKERS, drawn, whole


def _write(path, data, how=None):
    data = data if isinstance(data, bytes) else data.encode()
    with open(path, "wb") as f:
        f.write({None: lambda d: d, "GZIP": gzip.compress, "ZLIB": zlib.compress}[how](data))
    return path


def _lines(tmp):
    return [_write(f"{tmp}/{n}.txt", text) for n, text in (("a", "one\ntwo\n"), ("b", ""), ("c", "three\r\n\r\nfour"))]


def _records(tf, tmp, counts=(3, 0, 2), how=""):
    names = []
    for k, n in enumerate(counts):
        names.append(f"{tmp}/r{k}")
        with tf.io.TFRecordWriter(names[-1], how) as w:
            for j in range(n):
                w.write(f"record {k} {j}".encode())
    return names


# ---- lines


def lines(tf, tmp):
    return whole(tf, tf.data.TextLineDataset(_lines(tmp)))


def lines_of_one(tf, tmp):
    return whole(tf, tf.data.TextLineDataset(_lines(tmp)[2]))


def lines_of_tensor(tf, tmp):
    return whole(tf, tf.data.TextLineDataset(tf.constant(_lines(tmp))))


def lines_of_matrix(tf, tmp):
    return whole(tf, tf.data.TextLineDataset(tf.constant([_lines(tmp)[:2], _lines(tmp)[1:]])))


def lines_of_dataset(tf, tmp):
    return whole(tf, tf.data.TextLineDataset(tf.data.Dataset.from_tensor_slices(_lines(tmp)).take(1)))


def lines_of_none(tf, tmp):
    return whole(tf, tf.data.TextLineDataset([]))


def lines_of_numbers(tf, tmp):
    return tf.data.TextLineDataset([1, 2])


def lines_of_dataset_of_numbers(tf, tmp):
    return tf.data.TextLineDataset(tf.data.Dataset.range(3))


def lines_compressed(tf, tmp):
    return [whole(tf, tf.data.TextLineDataset(_write(f"{tmp}/{how}", "x\ny\nz" * 3, how), how)) for how in ("GZIP", "ZLIB")]


def lines_buffers(tf, tmp):
    name = _write(tmp + "/f", "\n".join(str(k) * 50 for k in range(20)))
    return [whole(tf, tf.data.TextLineDataset(name, buffer_size=n)) for n in (1, 64, 100, 5000)]


def lines_buffer_negative(tf, tmp):
    return whole(tf, tf.data.TextLineDataset(_lines(tmp), buffer_size=-1))


def lines_unknown_compression(tf, tmp):
    return whole(tf, tf.data.TextLineDataset(_lines(tmp), "LZ4"))


def lines_not_compressed(tf, tmp):
    return whole(tf, tf.data.TextLineDataset(_write(tmp + "/f", "plain text, no gzip" * 10), "GZIP"))


def lines_missing(tf, tmp):
    return whole(tf, tf.data.TextLineDataset([_lines(tmp)[0], tmp + "/none"]))


def lines_folder(tf, tmp):
    return drawn(tf, tf.data.TextLineDataset(tmp))[1] != "end"


def lines_parallel(tf, tmp):
    return [drawn(tf, tf.data.TextLineDataset(_lines(tmp), num_parallel_reads=n))[0] for n in (None, 1, 2, 3)]


def lines_shuffled_batches(tf, tmp):
    ds = tf.data.TextLineDataset(_lines(tmp)).skip(1).shuffle(10, seed=3).batch(3).repeat(2)
    return drawn(tf, ds)


def lines_to_numbers(tf, tmp):
    name = _write(tmp + "/f", "1 2\n3 4\n5 6\n")
    return [drawn(tf, tf.data.TextLineDataset(name).map(
        lambda line: tf.strings.to_number(tf.strings.split(line)), num_parallel_calls=n).batch(2)) for n in WORKERS]


def lines_bytes(tf, tmp):
    return drawn(tf, tf.data.TextLineDataset(_write(tmp + "/f", b"\0a\n\xff\xfe\n\r\n\n")))


def lines_class(tf, tmp):
    ds = tf.data.TextLineDataset(_lines(tmp))
    return [isinstance(ds, tf.data.Dataset), isinstance(ds, tf.data.TextLineDataset), type(ds).__name__]


# ---- records


def records(tf, tmp):
    return whole(tf, tf.data.TFRecordDataset(_records(tf, tmp)))


def records_compressed(tf, tmp):
    return [whole(tf, tf.data.TFRecordDataset(_records(tf, tmp, how=how), how)) for how in ("GZIP", "ZLIB")]


def records_wrong_compression(tf, tmp):
    return whole(tf, tf.data.TFRecordDataset(_records(tf, tmp), "GZIP"))


def records_parallel(tf, tmp):
    names = _records(tf, tmp, (3, 2, 4))
    return [drawn(tf, tf.data.TFRecordDataset(names, num_parallel_reads=n))[0] for n in (None, 1, 2, 3)]


def records_interleaved(tf, tmp):
    names = _records(tf, tmp, (3, 2, 4))
    files = tf.data.Dataset.from_tensor_slices(names)
    return [drawn(tf, files.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=2, num_parallel_calls=n,
                                       deterministic=True))[0] for n in (None, 1, 2)]


def records_damaged(tf, tmp):
    """A changed byte, in turn in the length, its checksum, the data, its checksum."""
    found = []
    for at in (2, 9, 14, 23, 40):
        name = _records(tf, tmp, (3,))[0]
        data = bytearray(open(name, "rb").read())
        data[at] ^= 1
        _write(name, bytes(data))
        found.append(drawn(tf, tf.data.TFRecordDataset(name)))
    return found


def records_truncated(tf, tmp):
    """Where the length itself is cut TensorFlow ends without a word; data_own_test.py has those."""
    found = []
    for size in (12, 20, 26, 45):
        name = _records(tf, tmp, (3,))[0]
        os.truncate(name, size)
        found.append(drawn(tf, tf.data.TFRecordDataset(name)))
    return found


def records_damaged_then_next_file(tf, tmp):
    names = _records(tf, tmp, (3, 2))
    data = bytearray(open(names[0], "rb").read())
    data[40] ^= 1
    _write(names[0], bytes(data))
    return drawn(tf, tf.data.TFRecordDataset(names).apply(tf.data.experimental.ignore_errors()))


def records_no_records(tf, tmp):
    return drawn(tf, tf.data.TFRecordDataset(_write(tmp + "/f", "this is text and no record file at all")))


def records_huge_length(tf, tmp):
    return drawn(tf, tf.data.TFRecordDataset(_write(tmp + "/f", b"\xff" * 8 + b"\0\0\0\0" + b"x" * 20)))


def records_missing(tf, tmp):
    return whole(tf, tf.data.TFRecordDataset(tmp + "/none"))


def records_in_function(tf, tmp):
    names = _records(tf, tmp)

    @tf.function
    def count(files):
        n = tf.constant(0)
        for record in tf.data.TFRecordDataset(files):
            n += tf.strings.length(record)
        return n

    return count(tf.constant(names))


# ---- records of one length


def fixed(tf, tmp):
    names = [_write(f"{tmp}/{k}", f"HEAD{'abcdefgh'[:n]}FT") for k, n in enumerate((8, 0, 4))]
    return whole(tf, tf.data.FixedLengthRecordDataset(names, 4, 4, 2))


def fixed_plain(tf, tmp):
    return whole(tf, tf.data.FixedLengthRecordDataset(_write(tmp + "/f", "abcdefghi"), 3))


def fixed_uneven(tf, tmp):
    return whole(tf, tf.data.FixedLengthRecordDataset(_write(tmp + "/f", "abcdefgh"), 3))


def fixed_compressed(tf, tmp):
    return [whole(tf, tf.data.FixedLengthRecordDataset(_write(f"{tmp}/{how}", "HHabcdefF", how), 3, 2, 1, compression_type=how))
            for how in ("GZIP", "ZLIB")]


def fixed_wrong_sizes(tf, tmp):
    name, found = _write(tmp + "/f", "abc"), []
    for sizes in ((0, 0, 0), (3, -1, 0), (3, 0, -1)):
        try:
            found.append(drawn(tf, tf.data.FixedLengthRecordDataset(name, *sizes)))
        except Exception as e:
            found.append(type(e).__name__)
    return found


def fixed_to_numbers(tf, tmp):
    name = _write(tmp + "/f", bytes(range(12)))
    return drawn(tf, tf.data.FixedLengthRecordDataset(name, 4).map(lambda r: tf.io.decode_raw(r, tf.uint8)))


# ---- names


def names(tf, tmp):
    _lines(tmp)
    return whole(tf, tf.data.Dataset.list_files(tmp + "/*.txt", shuffle=False))


def names_several(tf, tmp):
    _lines(tmp)
    return whole(tf, tf.data.Dataset.list_files([tmp + "/c*", tmp + "/a*"], shuffle=False))


def names_shuffled(tf, tmp):
    _lines(tmp)
    ds = tf.data.Dataset.list_files(tmp + "/*.txt", seed=5)
    once = [n.numpy() for n in ds]
    return [sorted(once), len({tuple(n.numpy() for n in ds) for _ in range(40)}) > 1, whole(tf, ds)["count"]]


def names_none(tf, tmp):
    return whole(tf, tf.data.Dataset.list_files(tmp + "/none*"))


def names_then_lines(tf, tmp):
    _lines(tmp)
    files = tf.data.Dataset.list_files(tmp + "/*.txt", shuffle=False)
    return [drawn(tf, files.interleave(tf.data.TextLineDataset, cycle_length=3, num_parallel_calls=n))[0] for n in (None, 1, 2)]


# ---- CSV


_CSV = "a,b,c,d\n1,2.5,x,10\n2,,\"y, \"\"z\"\"\",20\n3,4.5,\"two\nlines\",30\n"


def csv(tf, tmp):
    return whole(tf, tf.data.experimental.CsvDataset(_write(tmp + "/f", _CSV), [tf.int32, [0.5], "", tf.int64], header=True))


def csv_required(tf, tmp):
    return whole(tf, tf.data.experimental.CsvDataset(_write(tmp + "/f", _CSV), [tf.int32, tf.float32, "", tf.int64], header=True))


def csv_select(tf, tmp):
    name = _write(tmp + "/f", _CSV)
    return whole(tf, tf.data.experimental.CsvDataset(name, [tf.int32, tf.int64], header=True, select_cols=[0, 3]))


def csv_exclude(tf, tmp):
    name = _write(tmp + "/f", _CSV)
    return whole(tf, tf.data.experimental.CsvDataset(name, [tf.int32, tf.int64], header=True, exclude_cols=[1, 2]))


def csv_select_wrong(tf, tmp):
    name = _write(tmp + "/f", _CSV)
    return whole(tf, tf.data.experimental.CsvDataset(name, [tf.int32, tf.int64], header=True, select_cols=[3, 0]))


def csv_dtypes(tf, tmp):
    name = _write(tmp + "/f", "1,2,3.5,4.25,s\n-7,-8,1e3,inf,\n")
    return whole(tf, tf.data.experimental.CsvDataset(name, [tf.int32, tf.int64, tf.float32, tf.float64, "none"]))


def csv_dtype_wrong(tf, tmp):
    return tf.data.experimental.CsvDataset(_write(tmp + "/f", "1"), [tf.bool])


def csv_faults(tf, tmp):
    """Each of these records has a fault; the next element is of the next record."""
    found = []
    for row in ("1,2,3", "1", "x,2", "1,2.5.1", "1,\"a\"b", "1,a\"b", "", "9999999999,1", "1,\"open", "\"1\",\"2\"", " 1 , 2 "):
        ds = tf.data.experimental.CsvDataset(_write(tmp + "/f", f"1,1\n{row}\n3,3\n"), [tf.int32, tf.float32])
        found.append([row, drawn(tf, ds), drawn(tf, ds.apply(tf.data.experimental.ignore_errors()))])
    return found


def csv_ends(tf, tmp):
    return [drawn(tf, tf.data.experimental.CsvDataset(_write(tmp + "/f", text), [tf.int32, ""]))
            for text in ("1,a\r\n2,b\r\n", "1,a\r2,b", "1,a\n2,", "1,\n2,b\n\n", "", "1,\"a\"\r\n2,\"b\"")]


def csv_delimiters(tf, tmp):
    name = _write(tmp + "/f", "1|\"x\"|NA\n2|NA|5\n")
    make = tf.data.experimental.CsvDataset
    return [drawn(tf, make(name, [[0], ["d"], [7]], field_delim="|", na_value="NA")),
            drawn(tf, make(name, [[0], ["d"], [7]], field_delim="|", na_value="NA", use_quote_delim=False)),
            drawn(tf, make(name, ["", "", ""], field_delim="|"))]


def csv_compressed(tf, tmp):
    return drawn(tf, tf.data.experimental.CsvDataset(_write(tmp + "/f", "1,2\n3,4\n", "GZIP"), [0, 0], compression_type="GZIP"))


def csv_buffers(tf, tmp):
    name = _write(tmp + "/f", "\n".join(f"{k},\"{'q' * 40}\"" for k in range(10)))
    return [drawn(tf, tf.data.experimental.CsvDataset(name, [0, ""], buffer_size=n)) for n in (1, 7, 100)]


def csv_files(tf, tmp):
    names = [_write(f"{tmp}/{k}", f"h\n{k}\n") for k in range(3)]
    return [drawn(tf, tf.data.experimental.CsvDataset(names, [0], header=True)),
            drawn(tf, tf.data.experimental.CsvDataset([names[0], tmp + "/none"], [0], header=True))]


def csv_empty_with_header(tf, tmp):
    return drawn(tf, tf.data.experimental.CsvDataset(_write(tmp + "/f", ""), [0], header=True))


_TABLE = "id,size,name,far\n1,0.5,ann,30000000000\n2,1.5,,4\n3,x,cid,5\n4,2.5,dan,6\n5,,eve,7\n"


def table(tf, tmp):
    ds = tf.data.experimental.make_csv_dataset(_write(tmp + "/f", _TABLE), 2, num_epochs=1, shuffle=False)
    return whole(tf, ds)


def table_label(tf, tmp):
    ds = tf.data.experimental.make_csv_dataset(_write(tmp + "/f", _TABLE.replace("x", "2")), 2, label_name="id", num_epochs=1,
                                               shuffle=False)
    return whole(tf, ds)


def table_repeats(tf, tmp):
    ds = tf.data.experimental.make_csv_dataset(_write(tmp + "/f", _TABLE), 3, shuffle=False, select_columns=["name", 0])
    return [whole(tf, ds, 5), whole(tf, ds.take(2))]


def table_shuffled(tf, tmp):
    name = _write(tmp + "/f", _TABLE)
    ds = tf.data.experimental.make_csv_dataset(name, 5, num_epochs=1, shuffle_seed=7, column_names=["a", "b", "c", "d"],
                                               column_defaults=[0, "", "", tf.int64])
    return whole(tf, ds)["elements"]


def table_files(tf, tmp):
    for k in range(3):
        _write(f"{tmp}/{k}.csv", f"a,b\n{k},x\n{k + 10},y\n")
    make = tf.data.experimental.make_csv_dataset
    return [drawn(tf, make(tmp + "/*.csv", 2, num_epochs=1, shuffle=False, num_parallel_reads=n)) for n in (None, 1, 2)]


def table_wrong(tf, tmp):
    make, found = tf.data.experimental.make_csv_dataset, []
    name, other = _write(tmp + "/f", _TABLE), _write(tmp + "/g", "a,b\n1,2\n")
    for change in ({"label_name": "none"}, {"select_columns": ["none"]}, {"select_columns": [9]}, {"header": False},
                   {"column_names": ["a", "a", "b", "c"]}, {"column_defaults": [0], "select_columns": [0, 1]},
                   {"column_names": ["a"], "header": False}, {"file_pattern": [name, other]}, {"file_pattern": tmp + "/none*"},
                   {"select_columns": [1, 1]}):
        try:
            make(**{"file_pattern": name, "batch_size": 2, **change})
            found.append("fine")
        except Exception as e:
            found.append(type(e).__name__)
    return found


def table_compressed(tf, tmp):
    ds = tf.data.experimental.make_csv_dataset(_write(tmp + "/f", _TABLE, "GZIP"), 5, num_epochs=1, shuffle=False,
                                               compression_type="GZIP")
    return drawn(tf, ds)


def table_errors_ignored(tf, tmp):
    name = _write(tmp + "/f", "a,b\n1,2\nx,3\n4,5\n")
    ds = tf.data.experimental.make_csv_dataset(name, 4, num_epochs=1, shuffle=False, column_defaults=[tf.int32, tf.int32],
                                               ignore_errors=True)
    return drawn(tf, ds)


# ---- Examples


def _examples(tf, tmp):
    name = tmp + "/examples"
    with tf.io.TFRecordWriter(name) as w:
        for k in range(5):
            f = {"n": tf.train.Feature(int64_list=tf.train.Int64List(value=[k])),
                 "v": tf.train.Feature(float_list=tf.train.FloatList(value=[k / 2, 1.0])),
                 "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"t"] * k))}
            w.write(tf.train.Example(features=tf.train.Features(feature=f)).SerializeToString())
    features = {"n": tf.io.FixedLenFeature([], tf.int64), "v": tf.io.FixedLenFeature([2], tf.float32),
                "s": tf.io.VarLenFeature(tf.string)}
    return name, features


def examples_mapped(tf, tmp):
    name, features = _examples(tf, tmp)
    return [drawn(tf, tf.data.TFRecordDataset(name).map(lambda r: tf.io.parse_single_example(r, features), num_parallel_calls=n))
            for n in WORKERS]


def examples_parsed(tf, tmp):
    name, features = _examples(tf, tmp)
    return [whole(tf, tf.data.TFRecordDataset(name).batch(2).apply(tf.data.experimental.parse_example_dataset(features, n)))
            for n in (1, 2, 8)]


def examples_batched(tf, tmp):
    name, features = _examples(tf, tmp)
    make = tf.data.experimental.make_batched_features_dataset
    return [whole(tf, make(name, 2, features, num_epochs=1, shuffle=False)),
            whole(tf, make(name, 2, features, label_key="n", shuffle=False), 4),
            whole(tf, make(name, 2, features, num_epochs=1, shuffle=False, drop_final_batch=True))["elements"]]


def examples_ragged(tf, tmp):
    name, _ = _examples(tf, tmp)
    features = {"s": tf.io.RaggedFeature(tf.string), "n": tf.io.FixedLenFeature([], tf.int64)}
    return drawn(tf, tf.data.TFRecordDataset(name).batch(3).map(lambda r: tf.io.parse_example(r, features)))


def records_written(tf, tmp):
    ds = tf.data.Dataset.range(4).map(tf.strings.as_string)
    found = []
    for how in (None, "GZIP"):
        tf.data.experimental.TFRecordWriter(tmp + "/f", how).write(ds)
        found.append(drawn(tf, tf.data.TFRecordDataset(tmp + "/f", how)))
    return found


def records_written_wrong(tf, tmp):
    tf.data.experimental.TFRecordWriter(tmp + "/f").write(tf.data.Dataset.range(4))
