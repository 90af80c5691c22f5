"""The vendor's own client against scripted Messages servers: `messages_sdk.py URL CASE …`, prints a JSON list."""

import json
import sys

import anthropic
import httpx2

question = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "how many orders?"}],
}
tools = [{"name": "read_query", "description": "Runs SQL.", "input_schema": {"type": "object"}}]


def shown(message):
    content = [b.model_dump(exclude_none=True, exclude={"citations", "caller"}) for b in message.content]
    usage = message.usage.model_dump(exclude_none=True)
    return {"content": content, "stop_reason": message.stop_reason, "usage": usage}


def streamed(client):
    with client.messages.stream(**question) as stream:
        text = "".join(stream.text_stream)
        return shown(stream.get_final_message()) | {"text": text}


def tool_use(client):
    """Calls a tool, streamed, and hands the result back, plain."""
    with client.messages.stream(**question, tools=tools) as stream:
        first = stream.get_final_message()
    call = next(block for block in first.content if block.type == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "200"}
    messages = question["messages"] + [
        {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in first.content]},
        {"role": "user", "content": [result]},
    ]
    second = client.messages.create(**question | {"messages": messages}, tools=tools)
    return [shown(first), shown(second)]


cases = {
    "plain": lambda client: shown(client.messages.create(**question)),
    "streamed": streamed,
    "tool_use": tool_use,
    "sampling": lambda client: client.messages.create(**question, extra_body={"temperature": 0}),
    "wrong_key": lambda client: client.with_options(api_key="wrong").messages.create(**question),
}


def outcome(url, case):
    client = anthropic.Anthropic(base_url=url, api_key="test-key", max_retries=0, timeout=60)
    try:
        return cases[case](client)
    except anthropic.APIStatusError as error:
        headers = error.response.headers
        kept = {name: headers[name] for name in sorted(headers) if name.startswith(("retry-after", "anthropic-"))}
        return {"class": type(error).__name__, "status": error.status_code, "type": error.type, "headers": kept}
    except httpx2.TransportError as error:  # in the middle of a stream the client passes these on as they are
        return {"class": type(error).__name__}


print(json.dumps([outcome(url, case) for url, case in zip(sys.argv[1::2], sys.argv[2::2])]))
