"""Collections of a graph and their standard names."""
from ...graph import get_default_graph
from ...namespace import export


@export("compat.v1.GraphKeys")
class GraphKeys:
    """Names of the collections that library code fills."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    VARIABLES = GLOBAL_VARIABLES


@export("compat.v1.add_to_collection")
def add_to_collection(name, value):
    """Adds a value to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


@export("compat.v1.add_to_collections")
def add_to_collections(names, value):
    """Adds a value to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


@export("compat.v1.get_collection")
def get_collection(key, scope=None):
    """A copy of a collection of the default graph; with `scope`, only the values whose name matches it."""
    return get_default_graph().get_collection(key, scope)


@export("compat.v1.get_collection_ref")
def get_collection_ref(key):
    """The collection itself: changes to the list are kept."""
    return get_default_graph().get_collection_ref(key)
