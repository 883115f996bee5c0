"""What tests put in the place of models and of the service that runs them.

`anthropic_api` plays the Messages API over real HTTP; the other `anthropic_*` modules are its parts. `team` plays the
four roles as they should be, `adversaries` as they should not.
"""
