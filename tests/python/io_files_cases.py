"""tf.io.gfile, read_file, write_file, matching_files."""
import os


def _tree(tf, tmp):
    g = tf.io.gfile
    g.makedirs(tmp + "/a/b/c")
    for name in ("x.txt", "y.txt", ".hidden", "a/x.txt", "a/b/z.csv", "a/b/c/[odd]"):
        with g.GFile(f"{tmp}/{name}", "w") as f:
            f.write(name)
    return g


def read_and_write(tf, tmp):
    tf.io.write_file(tmp + "/new/folder/f", b"a\0b\xff")
    return tf.io.read_file(tmp + "/new/folder/f")


def write_again(tf, tmp):
    tf.io.write_file(tmp + "/f", "long content")
    tf.io.write_file(tmp + "/f", "short")
    return tf.io.read_file("file://" + tmp + "/f")


def empty_file(tf, tmp):
    tf.io.write_file(tmp + "/f", "")
    return tf.io.read_file(tmp + "/f")


def large_file(tf, tmp):
    data = bytes(range(256)) * 5000
    tf.io.write_file(tmp + "/f", data)
    return tf.io.read_file(tmp + "/f").numpy() == data


def read_missing(tf, tmp):
    return tf.io.read_file(tmp + "/none")


def read_folder(tf, tmp):
    return tf.io.read_file(tmp)


def read_scheme(tf, tmp):
    return tf.io.read_file("nosuch://bucket/f")


def read_vector(tf, tmp):
    return tf.io.read_file([tmp])


def write_into_file(tf, tmp):
    tf.io.write_file(tmp + "/f", "x")
    tf.io.write_file(tmp + "/f/g", "x")


def write_over_folder(tf, tmp):
    tf.io.write_file(tmp, "x")


def in_function(tf, tmp):
    @tf.function
    def f(name, text):
        tf.io.write_file(name, text)
        return tf.io.read_file(name)

    return [f(tf.constant(tmp + "/1"), tf.constant("one")), f(tf.constant(tmp + "/1"), tf.constant("two"))]


def in_session(tf, tmp):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        name = tf.compat.v1.placeholder(tf.string, [])
        put = tf.compat.v1.write_file(name, "text")
        got = tf.compat.v1.read_file(name)
        session.run(put, {name: tmp + "/f"})
        return session.run(got, {name: tmp + "/f"})


def matching(tf, tmp):
    _tree(tf, tmp)
    patterns = ("/*", "/*.txt", "/?.txt", "/a/*/*", "/[xy].txt", "/*/x.txt", "/x.txt", "/none*", "/a/b/c/\\[odd\\]", "/.*", "/a/*/")
    return {p: tf.io.matching_files(tmp + p) for p in patterns}


def matching_several(tf, tmp):
    _tree(tf, tmp)
    return tf.io.matching_files([tmp + "/y*", tmp + "/x*", tmp + "/none/*"])


def glob(tf, tmp):
    g = _tree(tf, tmp)
    return [sorted(g.glob(tmp + "/*.txt")), sorted(g.glob([tmp + "/a/*", tmp + "/x.txt"])), g.glob(tmp + "/none/*")]


def tests_of_paths(tf, tmp):
    g = _tree(tf, tmp)
    return [g.exists(tmp), g.exists(tmp + "/x.txt"), g.exists(tmp + "/none"), g.isdir(tmp), g.isdir(tmp + "/x.txt"),
            g.isdir(tmp + "/none"), g.exists("file://" + tmp + "/x.txt")]


def listing(tf, tmp):
    g = _tree(tf, tmp)
    return [sorted(g.listdir(tmp)), sorted(g.listdir(tmp + "/a/b")),
            [(d, sorted(dirs), sorted(files)) for d, dirs, files in g.walk(tmp)],
            [(d, sorted(dirs), sorted(files)) for d, dirs, files in g.walk(tmp, topdown=False)], list(g.walk(tmp + "/none"))]


def stat(tf, tmp):
    g = _tree(tf, tmp)
    s = g.stat(tmp + "/x.txt")
    return [s.length, s.is_directory, s.mtime_nsec > 10**18, g.stat(tmp).is_directory, g.GFile(tmp + "/x.txt").size()]


def moving(tf, tmp):
    g = _tree(tf, tmp)
    g.copy(tmp + "/x.txt", tmp + "/copy")
    g.rename(tmp + "/y.txt", tmp + "/a/moved")
    g.copy(tmp + "/copy", tmp + "/a/moved", overwrite=True)
    g.remove(tmp + "/.hidden")
    g.rmtree(tmp + "/a/b")
    g.mkdir(tmp + "/fresh")
    g.makedirs(tmp + "/fresh")
    return [sorted(os.listdir(tmp)), sorted(os.listdir(tmp + "/a")), g.GFile(tmp + "/a/moved").read()]


def copy_exists(tf, tmp):
    g = _tree(tf, tmp)
    g.copy(tmp + "/x.txt", tmp + "/y.txt")


def rename_exists(tf, tmp):
    g = _tree(tf, tmp)
    g.rename(tmp + "/x.txt", tmp + "/y.txt")


def copy_missing(tf, tmp):
    tf.io.gfile.copy(tmp + "/none", tmp + "/f")


def rename_missing(tf, tmp):
    tf.io.gfile.rename(tmp + "/none", tmp + "/f")


def remove_missing(tf, tmp):
    tf.io.gfile.remove(tmp + "/none")


def remove_folder(tf, tmp):
    tf.io.gfile.remove(tmp)


def rmtree_missing(tf, tmp):
    tf.io.gfile.rmtree(tmp + "/none")


def mkdir_exists(tf, tmp):
    tf.io.gfile.mkdir(tmp)


def mkdir_deep(tf, tmp):
    tf.io.gfile.mkdir(tmp + "/a/b")


def listdir_missing(tf, tmp):
    tf.io.gfile.listdir(tmp + "/none")


def listdir_file(tf, tmp):
    g = _tree(tf, tmp)
    g.listdir(tmp + "/x.txt")


def stat_missing(tf, tmp):
    tf.io.gfile.stat(tmp + "/none")


def join(tf, tmp):
    g = tf.io.gfile
    return [g.join("a", "b"), g.join("a/", "b"), g.join("a", "/b"), g.join("a"), g.join("/a", "b", "c")]


def gfile_text(tf, tmp):
    G = tf.io.gfile.GFile
    with G(tmp + "/f", "w") as f:
        f.write("one\ntwo\n\u00e4nd\nlast")
        f.flush()
    with G(tmp + "/f", "a") as f:
        f.write("!\n")
    with G(tmp + "/f") as f:
        first = [f.name == tmp + "/f", f.mode, f.read(2), f.tell(), f.readline(), f.readlines(), f.readline(), f.read()]
        f.seek(4)
        first += [f.readline(), list(f)]
        f.seek(-2, 2)
        first += [f.read(), f.seekable()]
    return first


def gfile_bytes(tf, tmp):
    G = tf.io.gfile.GFile
    with G(tmp + "/f", "wb") as f:
        f.write(b"a\0\xff\n\nb")
    with G(tmp + "/f", "rb") as f:
        return [f.read(2), f.readline(), f.readlines(), f.read(), f.size()]


def gfile_lazy(tf, tmp):
    f = tf.io.gfile.GFile(tmp + "/none")
    f.close()
    return f.name == tmp + "/none"


def gfile_missing(tf, tmp):
    tf.io.gfile.GFile(tmp + "/none").read()


def gfile_write_reading(tf, tmp):
    tf.io.write_file(tmp + "/f", "x")
    tf.io.gfile.GFile(tmp + "/f").write("y")


def gfile_read_writing(tf, tmp):
    tf.io.gfile.GFile(tmp + "/f", "w").read()


def gfile_mode(tf, tmp):
    tf.io.gfile.GFile(tmp + "/f", "z")


def gfile_whence(tf, tmp):
    tf.io.write_file(tmp + "/f", "x")
    tf.io.gfile.GFile(tmp + "/f").seek(0, 7)


def gfile_seek_nothing(tf, tmp):
    tf.io.write_file(tmp + "/f", "x")
    tf.io.gfile.GFile(tmp + "/f").seek()


def older_names(tf, tmp):
    g = tf.compat.v1.gfile
    g.MakeDirs(dirname=tmp + "/a/b")
    g.MkDir(tmp + "/c")
    with g.Open(tmp + "/f", "w") as f:
        f.write("text")
    g.Copy(oldpath=tmp + "/f", newpath=tmp + "/g")
    g.Rename(oldname=tmp + "/g", newname=tmp + "/h")
    found = [g.Exists(filename=tmp + "/h"), g.IsDirectory(dirname=tmp), sorted(g.Glob(tmp + "/*")),
             sorted(g.ListDirectory(tmp)), g.Stat(tmp + "/f").length, g.FastGFile(tmp + "/f", "rb").read()]
    g.Remove(tmp + "/f")
    g.DeleteRecursively(tmp + "/a")
    return found + [sorted(os.listdir(tmp)), [(d, sorted(s), sorted(f)) for d, s, f in g.Walk(tmp)]]


def gfile_not_utf8(tf, tmp):
    tf.io.write_file(tmp + "/f", b"\xff\x80abc")
    return tf.io.gfile.GFile(tmp + "/f").read()


def gfile_not_utf8_line(tf, tmp):
    tf.io.write_file(tmp + "/f", b"\xff\x80abc\n")
    return tf.io.gfile.GFile(tmp + "/f").readline()


def gfile_lone_surrogate(tf, tmp):
    tf.io.gfile.GFile(tmp + "/f", "w").write("\udcff")


def gfile_seek_beyond(tf, tmp):
    tf.io.write_file(tmp + "/f", "abcd")
    tf.io.gfile.GFile(tmp + "/f").seek(5)


def gfile_seek_before(tf, tmp):
    tf.io.write_file(tmp + "/f", "abcd")
    tf.io.gfile.GFile(tmp + "/f").seek(-5, 2)


def gfile_seek_end(tf, tmp):
    tf.io.write_file(tmp + "/f", "abcd")
    f = tf.io.gfile.GFile(tmp + "/f")
    f.seek(4)
    return [f.read(), f.read(3), f.tell()]


def gfile_read_negative(tf, tmp):
    tf.io.write_file(tmp + "/f", "abcd")
    tf.io.gfile.GFile(tmp + "/f").read(-5)


def gfile_reading_what_was_written(tf, tmp):
    with tf.io.gfile.GFile(tmp + "/f", "w+") as f:
        f.write("wxyz")
        f.flush()
        found = [f.read(2), f.tell()]
        f.write("Q")
    return [found, tf.io.read_file(tmp + "/f")]


def gfile_makedirs_over_a_file(tf, tmp):
    tf.io.write_file(tmp + "/f", "abcd")
    tf.io.gfile.makedirs(tmp + "/f")
