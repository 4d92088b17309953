"""Iterators made and dropped, and whole lives of models, leave threads, descriptors and memory as they were."""
import time

import pytest

import evenflow as tf

import loop_programs as programs

MEMORY = 5 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tmp_path_factory.mktemp("loops"))


def test_dropped_iterators_leave_nothing(folder):
    datasets = programs.pipelines(tf, folder)
    programs.drop_iterators(datasets, 100)
    threads, files, memory = programs.state()
    programs.drop_iterators(datasets, 1000)
    for _ in range(100):  # a thread that ended is listed for a moment
        if programs.state()[0] <= threads:
            break
        time.sleep(0.01)
    after = programs.state()
    assert after[0] <= threads and after[1] == files
    assert after[2] - memory < MEMORY


def test_lives_of_models_leave_memory_flat(folder):
    kept, *_ = programs.model_lives(tf, folder, 32, settle=16)
    assert max(kept) - kept[0] < MEMORY / 4
