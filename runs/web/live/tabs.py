"""The tabs of a run, by name."""

from collections.abc import Mapping

from runs.web.files.file_list import FILES
from runs.web.frame.run_tab import RunTab
from runs.web.history.history_page import HISTORY
from runs.web.plan_editor.plan_page import PLAN
from runs.web.run.overview import COST, OVERVIEW, STEPS

TABS: Mapping[str, RunTab] = {tab.name: tab for tab in (OVERVIEW, PLAN, STEPS, FILES, HISTORY, COST)}
