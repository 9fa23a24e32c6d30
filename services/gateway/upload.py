"""A file as it comes in: multipart, spooled to disk, then into the file store; never whole in
memory.

Source: RFC 7578; the parser is Starlette's on python-multipart.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from services.gateway.refusals import BodyTooLarge, InvalidBody, UnsupportedMediaType
from services.gateway.spool import FORM_BYTES, Upload
from shared.files import PIECE_BYTES, FileStore, store_error
from shared.problems import invalid


class Parser(MultiPartParser):
    """Spools the file into this folder, not into the system's."""

    folder: str | None = None

    def on_headers_finished(self) -> None:
        """A part begins: if it is a file, its bytes have their own place."""
        super().on_headers_finished()
        file = self._current_part.file
        if file is not None:
            file.file.close()
            spooled = SpooledTemporaryFile(  # noqa: SIM115 (whoever has the form closes it)
                max_size=self.spool_max_size, dir=self.folder
            )
            self._files_to_close_on_error.append(spooled)
            file.file = cast(BinaryIO, spooled)


def declared_bytes(request: Request, *, limit: int) -> int:
    """How much the request says it sends; 0 where it does not say. Raises BodyTooLarge, and
    UnsupportedMediaType for what is no form."""
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise UnsupportedMediaType("send the file as multipart/form-data")
    length = request.headers.get("content-length", "")
    declared = int(length) if length.isascii() and length.isdigit() and len(length) < 19 else 0
    if declared > limit + FORM_BYTES:
        raise BodyTooLarge(f"the file may have {limit} bytes")
    return max(0, declared - FORM_BYTES)


async def form_of(request: Request, folder: Path | None, upload: Upload, *, limit: int) -> FormData:
    """The form, its file spooled to disk; close it. Raises for what is not one, or too large."""
    pieces = _bounded(request, upload, limit)
    parser = Parser(request.headers, pieces, max_files=1, max_fields=8, max_part_size=1_024)
    parser.folder = None if folder is None else str(folder)
    try:
        return await parser.parse()
    except MultiPartException as error:
        raise InvalidBody.at_root(error.message) from None
    except OSError as error:
        raise store_error(error) from error
    except (KeyError, UnicodeDecodeError, ValueError):
        raise InvalidBody.at_root("the body is not multipart/form-data") from None


async def _bounded(request: Request, upload: Upload, limit: int) -> AsyncGenerator[bytes, None]:
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit + FORM_BYTES:
            raise BodyTooLarge(f"the file may have {limit} bytes")
        upload.receive(len(chunk))
        yield chunk


def file_in(form: FormData) -> UploadFile:
    """The form's file. Raises InvalidBody where there is none."""
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise missing("file")
    return file


def missing(field: str, detail: str = "Field required") -> InvalidBody:
    """A field of the form that is absent or wrong."""
    return InvalidBody(invalid([{"loc": (field,), "type": "missing", "msg": detail}], None))


def stored(file: UploadFile, store: FileStore, file_id: str, *, limit: int) -> int:
    """Copy the spooled file into the store, a piece at a time; its bytes. Blocks."""
    size = 0
    file.file.seek(0, 2)
    if file.file.tell() > limit:
        raise BodyTooLarge(f"the file may have {limit} bytes")
    file.file.seek(0)
    with store.writing(file_id) as target:
        while piece := file.file.read(PIECE_BYTES):
            target.write(piece)
            size += len(piece)
    return size
