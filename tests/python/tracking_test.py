"""Objects that know their children: attributes, lists, dicts; and what is kept out of it."""
import pytest

import evenflow as tf

tracking = tf.__internal__.tracking


class Thing(tracking.AutoTrackable):
    pass


def test_attributes_are_children():
    a, b = Thing(), Thing()
    a.b, a.number, a.none = b, 3, None
    assert a._trackable_children() == {"b": b}
    assert a._lookup_dependency("b") is b and a._lookup_dependency("c") is None
    del a.b
    assert a._trackable_children() == {}


def test_containers_keep_their_type_and_show_as_children():
    a, b = Thing(), Thing()
    held = [b, 1]
    a.list, a.dict, a.tuple, a.plain = held, {"k": b}, (b, 2), (1, 2)
    assert a.list is held and type(a.dict) is dict
    children = a._trackable_children()
    assert sorted(children) == ["dict", "list", "tuple"]
    assert children["list"]._trackable_children() == {"0": b}
    assert children["dict"]._trackable_children() == {"k": b}
    assert children["tuple"]._trackable_children() == {"0": b}
    held.append(Thing())
    assert sorted(a._trackable_children()["list"]._trackable_children()) == ["0", "2"]


def test_untracked_methods():
    class Other(Thing):
        @tracking.no_automatic_dependency_tracking
        def __init__(self):
            self.hidden = Thing()

    other = Other()
    assert other._trackable_children() == {}
    other.hidden = Thing()  # assigned outside, it counts
    assert list(other._trackable_children()) == ["hidden"]


def test_children_named_by_hand():
    a, b = Thing(), Thing()
    a._track_trackable(b, "b")
    with pytest.raises(ValueError, match="already"):
        a._track_trackable(Thing(), "b")
    a._track_trackable(Thing(), "b", overwrite=True)
    with pytest.raises(TypeError, match="only trackable"):
        a._track_trackable(3, "c")


def test_with_a_tensor_class():
    class Both(tf.__internal__.types.Tensor, tracking.Trackable):
        pass

    assert Both()._trackable_children() == {}
