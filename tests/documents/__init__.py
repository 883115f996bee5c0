"""Documents that tests make for themselves: a module per format, with what each of them must read as."""
