"""Plans, compared and reckoned with: the order of steps, requests answered, what a new plan relaxes, estimates."""
