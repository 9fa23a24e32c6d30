"""llama.cpp's own HTTP server, from the wheel of xllamacpp: `... MODEL.gguf PORT [API_KEY]`."""

from __future__ import annotations

import sys
import threading

from xllamacpp import (
    CommonParams,
    Server,
    ggml_type,
    llama_flash_attn_type,
)


def main(model: str, port: str, *api_keys: str) -> None:
    """Serve until killed. In float32 throughout, so that numbers can be compared."""
    params = CommonParams()
    params.model.path = model
    params.model_alias = {"tiny-served"}
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_ctx, params.n_parallel, params.n_gpu_layers = 4 * 96, 4, 0
    params.cache_type_k = params.cache_type_v = ggml_type.GGML_TYPE_F32
    params.flash_attn_type = llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cpuparams.n_threads = 1
    params.api_keys = list(api_keys)
    server = Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
