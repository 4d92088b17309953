"""What things cost on TensorFlow: measured figures, not guesses.

The numbers come from runs of the programs of tests/zoo with TensorFlow 2.21 on two cores of a shared machine
(tests/zoo/results-tensorflow-2.21.json). Each price is computed from the fields of those results that its line names,
so that `tests/python/doctor_test.py` can check it against the file.
"""
import collections

Price = collections.namedtuple("Price", "us kb program formula")

# name -> microseconds (or kilobytes) each, the program it was measured by, and how it follows from its results
PRICES = {
    "trace_value": Price(15238.6, 128.3, "01_python_scalar_args", "typical_us - fixed_us"),
    "trace_list": Price(11603.2, 140.4, "07_python_list_args", "typical_us - fixed_us"),
    "trace_shape": Price(14725.7, 151.4, "02_new_shape_every_call", "typical_us - same_us"),
    "trace_instance": Price(9090.8, 2.4, "06_method_per_instance", "typical_us - same_us"),
    "fresh_key": Price(8231.2, 0.4, "03_bound_method_argument", "typical_us - 1000 * second_ms"),
    "fresh_function": Price(8535.8, 1.4, "04_function_made_in_loop", "typical_us - outside_us"),
    "graph_growth": Price(19557.4, 50.4, "09_v1_graph_grows_in_loop", "typical_us - 1000 * second_ms"),
    "session": Price(10346.8, 30.3, "10_v1_session_per_call", "typical_us - kept_session_us"),
    "eager_op": Price(47.5, 0.0, "23_eager_small_ops", "us_per_op"),
    "eager_model": Price(1576.1, 0.0, "15_calling_approach", "call_us - function_us"),
    "python_scalar": Price(12.7, 0.0, "24_eager_python_scalars", "(typical_us - ready_us) / 3"),
    "list_element": Price(0.0721, 0.0, "27_list_to_tensor", "(typical_us - stack_first_us) / 16384"),
    "tape": Price(322.8, 0.0, "25_persistent_tape", "typical_us - single_us"),
    "variable": Price(542.2, 0.0, "26_variables_in_loop", "typical_us"),
    "loop_trip": Price(12.2, 0.0, "29_range_loop_in_function", "us_per_trip"),
    "slice": Price(306.4, 0.0, "37_slice_large_tensor", "typical_us"),
    "kept_scalar": Price(0.0, 0.9, "35_keep_losses", "0"),
    "predict": Price(60970.6, 16.8, "14_predict_in_loop", "typical_us - direct_us"),
    "fit": Price(178012.7, 51.3, "17_rl_predict_and_fit", "typical_us - on_batch_us"),
    "model": Price(195403.1, 208.4, "19_models_in_loop", "typical_us"),
    "compile": Price(120825.0, 612.6, "39_compile_in_loop", "typical_us - compiled_once_us"),
    "iterator": Price(1232.5, 0.1, "30_iterator_each_epoch", "typical_us - kept_iterator_us"),
    "dataset": Price(18835.1, 1.8, "31_dataset_made_each_call", "typical_us - constant_us"),
    "python_element": Price(303.3, 0.5, "33_py_function_map", "us_per_element * (1 - 1 / py_vs_ops)"),
    "map_element": Price(19.3, 0.0, "90_map_per_element", "(typical_us - batched_us) / 4096"),
    "shuffle_element": Price(32.9, 0.0, "91_shuffle_refill", "(typical_us - numbers_us) / 1000"),
    "batch_of_one": Price(448.7, 0.0, "92_batch_of_one", "(typical_us - batched_us) / 128"),
    "checkpoint": Price(9001.1, 0.2, "36_checkpoint_in_loop", "typical_us"),
}


def tensorflow_ms(name, count):
    """What `count` of them take on TensorFlow."""
    return PRICES[name].us * count / 1e3
