"""An app of the tests alone: its `flush` empties the audit trail as well, which the product's triggers refuse."""
