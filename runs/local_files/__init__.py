"""Files of the machine on which a command runs: read from its folders, and written into them with care."""
