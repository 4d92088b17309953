"""The doctor over tests/zoo: the known cause of each program is its first or second finding."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

ZOO = pathlib.Path(__file__).resolve().parent.parent / "zoo"
LACKING = json.loads((ZOO / "lacking-evenflow.json").read_text())
CAUSES = {
    "01_python_scalar_args": "E101", "02_new_shape_every_call": "E102", "03_bound_method_argument": "E103",
    "04_function_made_in_loop": "E104", "06_method_per_instance": "E103", "07_python_list_args": "E101",
    "08_odd_last_batch": "E102", "09_v1_graph_grows_in_loop": "E105", "10_v1_session_per_call": "E106",
    "11_v1_feed_dict": "E203", "12_v1_assign_in_loop": "E105", "13_v1_feed_varying_sizes": "E302",
    "14_predict_in_loop": "E202", "15_calling_approach": "E202", "17_rl_predict_and_fit": "E202",
    "19_models_in_loop": "E108", "20_models_in_loop_cleared": "E108",
    "22_custom_training_loop": "E201", "23_eager_small_ops": "E201", "24_eager_python_scalars": "E203",
    "25_persistent_tape": "E304", "26_variables_in_loop": "E305", "27_list_to_tensor": "E203",
    "28_varying_sizes_eager": "E302", "29_range_loop_in_function": "E205",
    "16_predict_dataset_in_loop": "E202", "30_iterator_each_epoch": "E107", "31_dataset_made_each_call": "E107",
    "32_from_generator_epochs": "E402", "33_py_function_map": "E402", "34_no_prefetch": "E401", "35_keep_losses": "E303",
    "36_checkpoint_in_loop": "E501",
    "37_slice_large_tensor": "E207", "38_map_fn": "E205", "39_compile_in_loop": "E108",
    "90_map_per_element": "E403", "91_shuffle_refill": "E404", "92_batch_of_one": "E405",
}
STEADY = ("05_steady_function", "18_train_on_batch", "21_copy_weights", "40_learning_rate_each_step")


def findings(name):
    if name in LACKING:
        pytest.skip(f"needs {LACKING[name]}")
    done = subprocess.run([sys.executable, "-m", "evenflow", "doctor", "--json", "--all", str(ZOO / f"{name}.py"), "evenflow"],
                          text=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ZOO)}, timeout=100)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["findings"]


@pytest.mark.parametrize("name", sorted(CAUSES))
def test_the_known_cause_comes_first(name):
    found = [(f["code"], pathlib.Path(f["file"]).stem) for f in findings(name)]
    assert (CAUSES[name], name) in found[:2], found


@pytest.mark.parametrize("name", STEADY)
def test_nothing_is_wrong(name):
    assert [f["code"] for f in findings(name)] == []
