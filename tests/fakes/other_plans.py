"""Plans as other tools save them, in the three forms that people bring."""

from __future__ import annotations

from typing import Any

DATACLASS: dict[str, Any] = {
    "goal": "Review all legal documents",
    "context": {"root": "legal", "found": ["nda.md"]},
    "steps": [
        {
            "step_id": "step_1",
            "name": "Write the notices",
            "description": "Generate LEGAL_NOTICES.md",
            "actions": [{"tool": "read_file", "params": {"path": "nda.md"}}],
            "acceptance_criteria": ["LEGAL_NOTICES.md created with detailed findings"],
            "expected_outputs": ["LEGAL_NOTICES.md"],
            "dependencies": [],
            "estimated_complexity": "medium",
            "status": "pending",
            "feedback": [],
            "retry_count": 0,
        }
    ],
    "success_criteria": ["All documents reviewed with findings"],
    "rollback_strategy": "Delete the reports",
}
TYPED: dict[str, Any] = {
    "goal": "Find the largest file",
    "steps": [
        {
            "step_id": 1,
            "description": "List the files",
            "expected_output": "a list of files with sizes",
            "dependencies": [],
            "tools_needed": ["glob", "read"],
        },
        {
            "step_id": 2,
            "description": "Report",
            "expected_output": "summary.md",
            "dependencies": [1],
            "tools_needed": [],
        },
    ],
    "estimated_complexity": 7,
}
OBJECTIVE: dict[str, Any] = {
    "objective": "Answer the question",
    "id": "plan-1",
    "created_at": "2026-01-01T00:00:00",
    "steps": [{"id": "s1", "description": "Read the files", "status": "pending", "evidence": None, "notes": ""}],
    "postconditions": [{"description": "answer.md exists", "satisfied": False, "evidence": None}],
}
