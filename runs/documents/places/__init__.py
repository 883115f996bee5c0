"""Places in a document: what people call them, how the text is shown to models, and views of parts of it."""
