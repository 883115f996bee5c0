"""The model of a document: its text in blocks, the numbers of its clauses, and the anchors that citations name."""
