"""Documents as text with places: blocks, what people call them, and where an anchor of a citation leads."""
