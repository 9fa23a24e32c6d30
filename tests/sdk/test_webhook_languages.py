"""The guide's verifiers in other languages take what is signed and refuse all else, as ours does.

Each block of docs/guide/webhooks.md is run as it stands there, where the language's runtime is.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.service import ROOT
from tests.sdk.test_webhooks import BODY, OTHER, SECRET
from touchstone_client import webhooks

GUIDE = ROOT / "docs" / "guide" / "webhooks.md"
ID = "msg_1"
# After the block: five words a case (body, id, timestamp, signatures, secret), a line of answer
JAVASCRIPT = """
const words = process.argv.slice(2);
for (let at = 0; at < words.length; at += 5) {
  const [body, id, timestamp, signature, secret] = words.slice(at, at + 5);
  const headers = {
    "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature,
  };
  try {
    verify(Buffer.from(body), headers, secret);
    console.log("taken");
  } catch (error) {
    console.log("refused");
  }
}
"""
JAVA = """
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Verify {
%s
  public static void main(String[] words) {
    for (int at = 0; at < words.length; at += 5) {
      Map<String, String> headers = Map.of("webhook-id", words[at + 1],
          "webhook-timestamp", words[at + 2], "webhook-signature", words[at + 3]);
      try {
        verify(words[at].getBytes(StandardCharsets.UTF_8), headers, words[at + 4]);
        System.out.println("taken");
      } catch (Exception error) {
        System.out.println("refused");
      }
    }
  }
}
"""
GO = """
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

%s
func main() {
	for words := os.Args[1:]; len(words) > 0; words = words[5:] {
		headers := http.Header{}
		headers.Set("webhook-id", words[1])
		headers.Set("webhook-timestamp", words[2])
		headers.Set("webhook-signature", words[3])
		if verify([]byte(words[0]), headers, words[4]) == nil {
			fmt.Println("taken")
		} else {
			fmt.Println("refused")
		}
	}
}
"""
RUBY = """
ARGV.each_slice(5) do |body, id, timestamp, signature, secret|
  headers = {
    "webhook-id" => id, "webhook-timestamp" => timestamp, "webhook-signature" => signature
  }
  begin
    verify(body, headers, secret)
    puts "taken"
  rescue StandardError
    puts "refused"
  end
end
"""


def block(language: str) -> str:
    """The guide's only one in this language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    return str(found)


def cases() -> Iterator[tuple[str, tuple[str, ...]]]:
    """taken or refused, and the words of the case."""
    body, now = BODY.decode(), int(time.time())
    good = webhooks.sign(BODY, ID, str(now), SECRET)
    foreign = webhooks.sign(BODY, ID, str(now), OTHER)

    def case(signature: str = good, sent: str = body, at: int = now) -> tuple[str, ...]:
        return sent, ID, str(at), signature, SECRET

    yield "taken", case()
    yield "taken", case(f"{foreign} {good}")  # while a secret is being replaced
    yield "refused", case(foreign)
    yield "refused", case(sent=f"{body} ")
    yield "refused", case(at=now + 1)
    yield "refused", case(good.replace("v1,", "v2,"))
    yield "refused", case(good[:-4])
    yield "refused", case("")
    for moved in (-3600, 3600):
        signature = webhooks.sign(BODY, ID, str(now + moved), SECRET)
        yield "refused", case(signature, at=now + moved)


def said(command: list[str]) -> list[str]:
    """What it prints of every case."""
    words = [word for _, case in cases() for word in case]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=True)
    return done.stdout.split()


EXPECTED = [expected for expected, _ in cases()]


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js")
def test_javascript(tmp_path: Path) -> None:
    script = tmp_path / "verify.mjs"
    script.write_text(block("js") + JAVASCRIPT, "utf-8")
    assert said(["node", str(script)]) == EXPECTED


@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no Java compiler")
def test_java(tmp_path: Path) -> None:
    source = tmp_path / "Verify.java"
    source.write_text(JAVA % block("java"), "utf-8")
    assert said(["java", "-XX:TieredStopAtLevel=1", str(source)]) == EXPECTED


@pytest.mark.skipif(shutil.which("go") is None, reason="there is no Go")
def test_go(tmp_path: Path) -> None:
    source = tmp_path / "verify.go"
    source.write_text(GO % block("go"), "utf-8")
    made = tmp_path / "verify"
    subprocess.run(["go", "build", "-o", str(made), str(source)], check=True)
    assert said([str(made)]) == EXPECTED


@pytest.mark.skipif(shutil.which("ruby") is None, reason="there is no Ruby")
def test_ruby(tmp_path: Path) -> None:
    script = tmp_path / "verify.rb"
    script.write_text(block("ruby") + RUBY, "utf-8")
    assert said(["ruby", str(script)]) == EXPECTED
