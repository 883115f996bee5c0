"""What a page says beside the reading that it shows. The number of queries grows with neither rows nor events."""
