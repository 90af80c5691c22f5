"""A LiteLLM proxy in front of the Analyst door: `analyst_litellm.py URL TOKEN CONFIG`, prints JSON.

CONFIG is one of those in integrations/litellm. The proxy runs on a port of its own and ends with this program.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

import openai

url, token, config = sys.argv[1:]
KEY = "sk-" + secrets.token_hex(32)
QUESTION = [{"role": "user", "content": "How many customers are there per tier?"}]


def start(port):
    environment = os.environ | {
        "GATEHOUSE_API": f"{url}/v1",
        "GATEHOUSE_TOKEN": token,
        "LITELLM_MASTER_KEY": KEY,
        # It starts without asking anybody else.
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
    }
    log = tempfile.TemporaryFile()
    program = Path(sys.executable).with_name("litellm")
    arguments = [program, "--config", config, "--host", "127.0.0.1", "--port", str(port)]
    return subprocess.Popen(arguments, env=environment, cwd=Path(config).parent, stdout=log, stderr=log), log


def wait_until_ready(proxy, log, port):
    for _ in range(3000):
        if proxy.poll() is not None:
            log.seek(0)
            sys.exit(f"the proxy ended: {log.read().decode()[-2000:]}")
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/health/liveliness", timeout=5)
        except (urllib.error.URLError, OSError):
            try:
                proxy.wait(0.05)
            except subprocess.TimeoutExpired:
                pass
    sys.exit("the proxy did not get ready")


def failing(call):
    try:
        call()
        return "it did not fail"
    except openai.APIStatusError as error:
        return {"class": type(error).__name__, "status": error.status_code, "message": error.message}


def use(client):
    def ask(messages=QUESTION, **given):
        return client.chat.completions.create(model="claude-da/analyst", messages=messages, **given)

    reply = ask(user="user-7")
    chunks = list(ask(stream=True))
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    endless = "run sql: WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) AS n FROM r"
    return {
        "model": reply.model,
        "content": reply.choices[0].message.content,
        "finish_reason": reply.choices[0].finish_reason,
        "streamed": "".join(choice.delta.content or "" for choice in choices),
        "pieces": len([choice for choice in choices if choice.delta.content]) > 1,
        "stream_finish_reason": choices[-1].finish_reason,
        "too_long": failing(lambda: ask([{"role": "user", "content": "x" * 10_001}])),
        "too_slow": failing(lambda: ask([{"role": "user", "content": endless}])),
        "after_errors": ask().choices[0].message.content,
    }


with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
proxy, log = start(port)
try:
    wait_until_ready(proxy, log, port)
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=KEY, max_retries=0, timeout=120)
    print(json.dumps(use(client)))
finally:
    proxy.terminate()
    proxy.wait()
