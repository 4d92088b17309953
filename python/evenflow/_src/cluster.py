"""tf.train.ClusterSpec: the network addresses of the tasks of each job. Programs build one from their environment variables
even when they run on a single machine."""
from .namespace import export


@export("train.ClusterSpec", "compat.v1.train.ClusterSpec")
class ClusterSpec:
    """The addresses of the tasks of each job: a list of addresses, or a dict from task number to address."""

    def __init__(self, cluster):
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_dict()
        if not isinstance(cluster, dict):
            raise TypeError(f"`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a `ClusterDef` "
                            f"protocol buffer. Received: {cluster!r}")
        self._jobs = {}
        for job in sorted(cluster):
            tasks = cluster[job]
            if isinstance(tasks, (list, tuple)):
                tasks = dict(enumerate(tasks))
            elif not isinstance(tasks, dict) or not all(isinstance(k, int) for k in tasks):
                raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings.")
            for address in tasks.values():
                if not isinstance(address, (str, bytes)):
                    raise TypeError(f"Task address must be a string: {address!r} of job {job!r}")
            self._jobs[job] = {k: a.decode() if isinstance(a, bytes) else a for k, a in sorted(tasks.items())}

    def __bool__(self):
        return bool(self._jobs)

    def __eq__(self, other):
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(repr(self._jobs))

    def __repr__(self):
        return "ClusterSpec(%s)" % ", ".join(f"{job!r}: {tasks!r}" for job, tasks in self.as_dict().items())

    def as_dict(self):
        """{job: list of addresses}, with a dict instead of the list where task numbers are missing."""
        return {job: list(tasks.values()) if list(tasks) == list(range(len(tasks))) else dict(tasks)
                for job, tasks in self._jobs.items()}

    @property
    def jobs(self):
        """The names of the jobs."""
        return list(self._jobs)

    def _job(self, name):
        if name not in self._jobs:
            raise ValueError("No such job in cluster: %r" % name)
        return self._jobs[name]

    def num_tasks(self, job_name):
        """How many tasks a job has."""
        return len(self._job(job_name))

    def task_indices(self, job_name):
        """The numbers of a job's tasks."""
        return list(self._job(job_name))

    def task_address(self, job_name, task_index):
        """The address of a task."""
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError("No task with index %r in job %r." % (task_index, job_name))
        return tasks[task_index]

    def job_tasks(self, job_name):
        """The addresses of a job's tasks by number; None where a number is missing."""
        tasks = self._job(job_name)
        return [tasks.get(k) for k in range(max(tasks, default=-1) + 1)]
