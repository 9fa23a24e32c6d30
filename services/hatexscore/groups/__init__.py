"""Target-group identification (TGI): which protected groups an explanation names as targets."""

from __future__ import annotations

from services.hatexscore.groups.mention import FoundAs, GroupMention
from services.hatexscore.groups.printed import mentions_paper
from services.hatexscore.groups.robust import mentions, target_group_identified

__all__ = ["FoundAs", "GroupMention", "mentions", "mentions_paper", "target_group_identified"]
