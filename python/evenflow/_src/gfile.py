"""tf.io.gfile: files and directories, with TensorFlow's exceptions. Paths are local; `file:///path` is accepted too."""
import contextlib
import errno
import os
import re
import shutil
import stat as _stat

from . import _core, errors
from .namespace import export

_CODES = {
    errno.ENOENT: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EROFS: errors.PermissionDeniedError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTDIR: errors.FailedPreconditionError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EMFILE: errors.ResourceExhaustedError,
    errno.EINVAL: errors.InvalidArgumentError,
    errno.ENAMETOOLONG: errors.InvalidArgumentError,
    errno.EXDEV: errors.UnimplementedError,
}
_SCHEME = re.compile(r"([a-zA-Z][0-9a-zA-Z.]*)://")


@contextlib.contextmanager
def _translated(path):
    """Turns an OSError into TensorFlow's exception for it."""
    try:
        yield
    except OSError as e:
        kind = _CODES.get(e.errno, errors.UnknownError)
        raise kind(None, None, f"{os.fsdecode(path)}; {e.strerror}") from None


def _local(path):
    """The local path that `path` (str, bytes or path-like) means."""
    path = os.fsdecode(os.fspath(path))
    scheme = _SCHEME.match(path)
    if scheme is None:
        return path
    if scheme[1] != "file":
        raise errors.UnimplementedError(
            None, None, f"File system scheme '{scheme[1]}' not implemented (file: '{path}'); only local files can be opened")
    rest = path[len("file://"):]
    return rest[rest.find("/"):] if "/" in rest else ""


@export("io.gfile.GFile", "compat.v1.gfile.GFile", "compat.v1.gfile.Open")
class GFile:
    """A file, opened when it is first read or written. Text is UTF-8 unless `mode` has a "b"."""

    def __init__(self, name, mode="r"):
        if mode not in ("r", "w", "a", "r+", "w+", "a+", "rb", "wb", "ab", "r+b", "w+b", "a+b", "rb+", "wb+", "ab+"):
            raise errors.InvalidArgumentError(None, None, f"mode is {mode!r}; it must be r, w or a, then perhaps + and b")
        self._name, self._mode = name, mode
        self._binary = "b" in mode
        self._reader = self._writer = None  # each has its own position in the file

    name = property(lambda self: self._name)
    mode = property(lambda self: self._mode)

    def _open(self, reading):
        allowed = "+" in self._mode or ("r" in self._mode) == reading
        if not allowed:
            word = "reading" if reading else "writing"
            raise errors.PermissionDeniedError(None, None, f"File isn't open for {word}")
        file = self._reader if reading else self._writer
        if file is None:
            with _translated(self._name):
                if reading:
                    file = self._reader = open(_local(self._name), "rb")  # noqa: SIM115
                else:
                    file = self._writer = open(_local(self._name), self._mode.replace("b", "") + "b")  # noqa: SIM115
        return file

    def _shown(self, data):
        return data if self._binary else data.decode("utf-8")

    def size(self):
        """The size of the file in bytes."""
        return stat(self._name).length

    def write(self, file_content):
        """Writes str or bytes."""
        file = self._open(False)
        if isinstance(file_content, str):
            file_content = file_content.encode("utf-8")
        with _translated(self._name):
            file.write(file_content)

    def read(self, n=-1):
        """The next `n` bytes, or the rest of the file."""
        file = self._open(True)
        if n < -1:
            raise errors.InvalidArgumentError(None, None, f"Can't read a negative number of bytes: {n}; -1 reads the rest of the file")
        with _translated(self._name):
            data = file.read(n)
        return self._shown(data)

    def seek(self, offset=None, whence=0, position=None):
        """Moves to `offset`, counted from the start of the file (whence 0), the current position (1) or the end (2)."""
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        file = self._open(True)
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(
                None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        size = os.fstat(file.fileno()).st_size
        target = (0, file.tell(), size)[whence] + (position if offset is None else offset)
        if target < 0:
            raise errors.InvalidArgumentError(None, None, f"Seeking to a negative position: {target}")
        if target > size:
            raise errors.OutOfRangeError(None, None, f"reached end of file: position {target}, but it has {size} bytes")
        with _translated(self._name):
            file.seek(target)

    def readline(self):
        """The next line with its line break; empty at the end of the file."""
        file = self._open(True)
        with _translated(self._name):
            line = file.readline()
        return self._shown(line)

    def readlines(self):
        """A list of the remaining lines."""
        return list(iter(self.readline, self._shown(b"")))

    def tell(self):
        """The position in the file in bytes."""
        if self._reader is None and self._writer is None:
            self._open("r" in self._mode)
        return (self._writer if self._reader is None else self._reader).tell()

    def seekable(self):
        """True: local files are seekable."""
        return True

    def flush(self):
        """Writes buffered data to the operating system."""
        if self._writer is not None:
            with _translated(self._name):
                self._writer.flush()

    def close(self):
        """Closes the file. A later use opens it again."""
        files = self._reader, self._writer
        self._reader = self._writer = None
        for file in files:
            if file is not None:
                with _translated(self._name):
                    file.close()

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        if hasattr(self, "_writer"):
            self.close()


@export("compat.v1.gfile.FastGFile")
class FastGFile(GFile):
    """A GFile under its oldest name."""


@export("io.gfile.exists")
def exists(path):
    """Whether a file or directory with this path exists."""
    return os.path.exists(_local(path))


@export("io.gfile.isdir")
def isdir(path):
    """Whether the path is a directory."""
    return os.path.isdir(_local(path))


@export("io.gfile.remove")
def remove(path):
    """Removes a file."""
    with _translated(path):
        os.unlink(_local(path))


@export("io.gfile.glob")
def glob(pattern):
    """The paths that match a pattern, or one of several patterns, with `*`, `?` and `[...]`."""
    if isinstance(pattern, (str, bytes, os.PathLike)):
        return _core.match_files(pattern)
    return [name for one in pattern for name in _core.match_files(one)]


@export("io.gfile.mkdir")
def mkdir(path):
    """Creates a directory, unless it exists."""
    if not isdir(path):
        with _translated(path):
            os.mkdir(_local(path))


@export("io.gfile.makedirs")
def makedirs(path):
    """Creates a directory and its missing parents, unless it exists."""
    local = _local(path)
    if os.path.exists(local) and not os.path.isdir(local):
        raise errors.FailedPreconditionError(None, None, f"{local} is not a directory")
    with _translated(path):
        os.makedirs(local, exist_ok=True)


@export("io.gfile.copy")
def copy(src, dst, overwrite=False):
    """Copies a file."""
    src, dst = _local(src), _local(dst)
    if not overwrite and os.path.exists(dst):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    with _translated(src):
        shutil.copyfile(src, dst)


@export("io.gfile.rename")
def rename(src, dst, overwrite=False):
    """Renames a file or directory."""
    src, dst = _local(src), _local(dst)
    if not overwrite and os.path.exists(dst):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    with _translated(src):
        os.replace(src, dst)


@export("io.gfile.rmtree")
def rmtree(path):
    """Removes a directory and its contents, or a file."""
    local = _local(path)
    with _translated(path):
        if os.path.isdir(local) and not os.path.islink(local):
            shutil.rmtree(local)
        else:
            os.unlink(local)


@export("io.gfile.listdir")
def listdir(path):
    """The names in a directory."""
    local = _local(path)
    if not os.path.isdir(local):
        raise errors.NotFoundError(None, None, f"Could not find directory {local}")
    with _translated(path):
        return os.listdir(local)


@export("io.gfile.walk")
def walk(top, topdown=True, onerror=None):
    """Yields (path, names of subdirectories, names of files) for `top` and each directory below it. `onerror` is called with
    the exception if a directory cannot be listed."""
    local = _local(top)
    try:
        names = sorted(listdir(local))
    except errors.NotFoundError as e:
        if onerror:
            onerror(e)
        return
    folders = [n for n in names if os.path.isdir(os.path.join(local, n))]
    here = (local, folders, [n for n in names if n not in set(folders)])
    if topdown:
        yield here
    for folder in folders:
        yield from walk(os.path.join(local, folder), topdown, onerror)
    if not topdown:
        yield here


class FileStatistics:
    """The result of `stat`: `length` in bytes, `mtime_nsec`, `is_directory`."""

    def __init__(self, found):
        self.length, self.mtime_nsec = found.st_size, found.st_mtime_ns
        self.is_directory = _stat.S_ISDIR(found.st_mode)


@export("io.gfile.stat")
def stat(path):
    """The size, modification time and type of a file or directory."""
    with _translated(path):
        return FileStatistics(os.stat(_local(path)))


@export("io.gfile.join")
def join(path, *paths):
    """Joins parts of a path. An absolute part replaces the parts before it."""
    return os.path.join(path, *paths)


@export("io.gfile.get_registered_schemes")
def get_registered_schemes():
    """The URI schemes of paths that can be opened."""
    return ["", "file"]


# ---- the older names, whose parameters have other names --------------------------------------------------


@export("compat.v1.gfile.Exists")
def _v1_exists(filename):
    """io.gfile.exists under its older name."""
    return exists(filename)


@export("compat.v1.gfile.IsDirectory")
def _v1_isdir(dirname):
    """io.gfile.isdir under its older name."""
    return isdir(dirname)


@export("compat.v1.gfile.Remove")
def _v1_remove(filename):
    """io.gfile.remove under its older name."""
    remove(filename)


@export("compat.v1.gfile.Glob")
def _v1_glob(filename):
    """io.gfile.glob under its older name."""
    return glob(filename)


@export("compat.v1.gfile.MkDir")
def _v1_mkdir(dirname):
    """io.gfile.mkdir under its older name."""
    mkdir(dirname)


@export("compat.v1.gfile.MakeDirs")
def _v1_makedirs(dirname):
    """io.gfile.makedirs under its older name."""
    makedirs(dirname)


@export("compat.v1.gfile.Copy")
def _v1_copy(oldpath, newpath, overwrite=False):
    """io.gfile.copy under its older name."""
    copy(oldpath, newpath, overwrite)


@export("compat.v1.gfile.Rename")
def _v1_rename(oldname, newname, overwrite=False):
    """io.gfile.rename under its older name."""
    rename(oldname, newname, overwrite)


@export("compat.v1.gfile.DeleteRecursively")
def _v1_rmtree(dirname):
    """io.gfile.rmtree under its older name."""
    rmtree(dirname)


@export("compat.v1.gfile.ListDirectory")
def _v1_listdir(dirname):
    """io.gfile.listdir under its older name."""
    return listdir(dirname)


@export("compat.v1.gfile.Walk")
def _v1_walk(top, in_order=True):
    """io.gfile.walk under its older name."""
    return walk(top, in_order)


@export("compat.v1.gfile.Stat")
def _v1_stat(filename):
    """io.gfile.stat under its older name."""
    return stat(filename)
