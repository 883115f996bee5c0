"""The file tools of an executor, over a workspace and nothing else."""
