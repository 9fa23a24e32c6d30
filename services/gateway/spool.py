"""Limits the disk space of running uploads, in total and per tenant, in this process. Use it only
in the event loop's thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from services.gateway.caller import UPLOADS_POLICY, Caller
from shared.contracts.errors import QuotaExceeded, ScoringError
from shared.process.settings import Settings

FORM_BYTES = 16_384  # of boundaries, headers and fields beside the file
SPOOL_FILES = 5  # of the largest size, that one gateway holds at once
UPLOADS_PER_TENANT = 4  # at a time, in one gateway
RETRY_SECONDS = 5
TENANTS_SHARE = 2  # one tenant may use one in so many bytes; a single file always fits


class SpoolFull(ScoringError):
    """The running uploads have reached the maximum total size."""

    status = 503
    slug = "spool-full"
    title = "Too many uploads at the moment"
    cure = "Wait the seconds of `Retry-After`, then upload the file again."
    retry_after = RETRY_SECONDS


class Upload:
    """A running upload, with the number of bytes received."""

    def __init__(self, spool: Spool, tenant: str) -> None:
        self._spool = spool
        self._tenant = tenant
        self.received = 0

    def receive(self, size: int) -> None:
        """Add `size` to the number of bytes received. Raises SpoolFull if there is no space for
        them."""
        self._spool.check_space(self._tenant, size)
        self._spool.received[self._tenant] += size
        self.received += size


class Spool:
    """Counts the bytes that this process's running uploads occupy. Only received bytes count, so a
    slow upload does not block others."""

    def __init__(self, settings: Settings) -> None:
        self.received: Counter[str] = Counter()  # bytes, by tenant
        self._most = SPOOL_FILES * (settings.max_file_bytes + FORM_BYTES)
        self._most_of_one = max(self._most // TENANTS_SHARE, settings.max_file_bytes + FORM_BYTES)
        self._uploads: Counter[str] = Counter()

    @contextmanager
    def upload(self, caller: Caller, declared: int) -> Iterator[Upload]:
        """Register an upload while the block runs. `declared` is its size in bytes, or 0 if
        unknown. Raises QuotaExceeded for too many uploads, and SpoolFull if there is no space."""
        tenant = caller.tenant
        if caller.key is not None and self._uploads[tenant] >= UPLOADS_PER_TENANT:
            raise QuotaExceeded(
                f"you are uploading {UPLOADS_PER_TENANT} files, the most allowed at a "
                "time; wait until one is uploaded",
                policy=UPLOADS_POLICY,
                retry_after=RETRY_SECONDS,
            )
        self.check_space(tenant, declared)
        upload = Upload(self, tenant)
        self._uploads[tenant] += 1
        try:
            yield upload
        finally:
            self._uploads[tenant] -= 1
            self.received[tenant] -= upload.received
            self._uploads += Counter()  # who uploads nothing is not remembered
            self.received += Counter()

    def check_space(self, tenant: str, size: int) -> None:
        """Raise SpoolFull if there is no space for `size` more bytes."""
        if self.received[tenant] + size > self._most_of_one or (
            self.received.total() + size > self._most
        ):
            raise SpoolFull("too many bytes are being uploaded at once; try again later")
