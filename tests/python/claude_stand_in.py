#!/usr/bin/env python3
"""Stands in for the agent CLI `claude`: it speaks its protocol and follows a script instead of a model.

The script is the JSON file that CLAUDE_SCRIPT names: {"seen": FILE, "steps": [...]}. What it was started with and told goes
to FILE. A step is one of
    {"text": "..."}                     the model says something, in pieces
    {"call": [tool, arguments]}         the model calls a tool of the MCP server, which is really started and asked
    {"expect": "..."}                   the last tool result holds this, or the script fails
    {"line": "..."}                     a line as it is
    {"complain": "..."}                 a line on stderr
    {"long": N}                         a line of N bytes
    {"result": {...}}                   the last frame, with these fields over the usual ones
    {"hang": true}                      waits for ever, deaf to SIGTERM, with a child that does too
    {"exit": N}                         ends, without another word
"""

import json
import os
import signal
import subprocess
import sys
import time

if sys.argv[1:] == ["doctor"]:
    verdict = os.environ.get("CLAUDE_DOCTOR", "ok")
    print("Claude Code doctor:", verdict)
    sys.exit(0 if verdict == "ok" else 1)

script = json.load(open(os.environ["CLAUDE_SCRIPT"]))
arguments = sys.argv[1:]
turns = 0


def after(flag):
    return arguments[arguments.index(flag) + 1]


def say(**frame):
    print(json.dumps(frame | {"session_id": "s"}), flush=True)


def streamed(kind, **event):
    say(type="stream_event", parent_tool_use_id=None, event={"type": kind} | event)


class Server:
    """The MCP server of the configuration, started like a client of MCP would."""

    def __init__(self):
        config = json.loads(after("--mcp-config"))["mcpServers"]["sqlite"]
        self.child = subprocess.Popen(
            [config["command"], *config["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.count = 0
        client = {"name": "stand-in", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.tools = [f"mcp__sqlite__{tool['name']}" for tool in self.ask("tools/list", {})["result"]["tools"]]

    def send(self, message):
        self.child.stdin.write(json.dumps(message) + "\n")
        self.child.stdin.flush()

    def ask(self, method, params):
        self.count += 1
        self.send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        return json.loads(self.child.stdout.readline())

    def call(self, name, arguments):
        reply = self.ask("tools/call", {"name": name, "arguments": arguments})
        if "error" in reply:
            return f"MCP error {reply['error']['code']}: {reply['error']['message']}", True
        result = reply["result"]
        return "".join(block["text"] for block in result["content"]), result.get("isError", False)


def listen():
    """The greeting, the user's message, and the end of input."""
    greeting = json.loads(sys.stdin.readline())
    assert greeting["type"] == "control_request" and greeting["request"]["subtype"] == "initialize", greeting
    response = {"subtype": "success", "request_id": greeting["request_id"], "response": {}}
    say(type="control_response", response=response)
    said = [json.loads(line) for line in sys.stdin]
    with open(script["seen"], "w") as file:
        process = {"cwd": os.getcwd(), "pid": os.getpid(), "uid": os.getuid(), "environment": dict(os.environ)}
        json.dump({"arguments": arguments, "said": said} | process, file)


def message(blocks, pieces=()):
    global turns
    turns += 1
    usage = {"input_tokens": 100, "output_tokens": 1, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 5}
    streamed("message_start", message={"usage": usage})
    for piece in pieces:
        streamed("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
    say(type="assistant", message={"role": "assistant", "content": blocks})
    streamed("message_delta", delta={}, usage={"output_tokens": 20})
    streamed("message_stop")


def call(name, arguments):
    use = f"toolu_{turns + 1}"
    message([{"type": "tool_use", "id": use, "name": f"mcp__sqlite__{name}", "input": arguments}])
    text, is_error = server.call(name, arguments)
    block = {"type": "tool_result", "tool_use_id": use, "content": [{"type": "text", "text": text}], "is_error": is_error}
    say(type="user", message={"role": "user", "content": [block]})
    return text


def hang():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    time.sleep(3600)


def result(given):
    usage = {"input_tokens": 100 * turns, "output_tokens": 20 * turns}
    usual = {"type": "result", "subtype": "success", "is_error": False, "num_turns": turns, "total_cost_usd": 0.0123}
    say(**usual | {"usage": usage, "modelUsage": {}, "result": "", "errors": []} | given)


listen()
server = Server() if script.get("server", True) else None
if server:
    states = [{"name": "sqlite", "status": "connected"}]
    say(type="system", subtype="init", tools=server.tools + script.get("tools", []), mcp_servers=states)
last = ""
for step in script["steps"]:
    [(kind, given)] = step.items()
    if kind == "text":
        message([{"type": "text", "text": given}], [given[at : at + 7] for at in range(0, len(given), 7)])
    elif kind == "call":
        last = call(*given)
    elif kind == "expect":
        assert given in last, last
    elif kind == "line":
        print(given, flush=True)
    elif kind == "complain":
        print(given, file=sys.stderr, flush=True)
    elif kind == "long":
        print(json.dumps({"type": "assistant", "message": {"content": "x" * given}}), flush=True)
    elif kind == "hang":
        hang()
    elif kind == "exit":
        sys.exit(given)
    else:
        result(given)
