"""What an installation of several processes needs, started on free ports and in folders of its own.

    uv run python -m tests.services COMMAND ...    # a command on a PostgreSQL that ends with it

What is started here ends when its process ends, also when that one is killed (`processes.py` says how, and what of it
needs Linux). A folder of somebody who was killed stays.
"""
