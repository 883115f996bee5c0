"""Writers of files that a run makes, one module for each kind. They know no Django and run in isolated processes."""
