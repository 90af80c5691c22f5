"""Gatehouse's Analyst as a provider of LiteLLM: `claude-da/analyst`.

A `CustomLLM` that forwards to a Gatehouse server and adds nothing of its own: policy, sandbox and record are there.
Where it is and who asks come from `api_base` and `api_key` of the model, or from GATEHOUSE_URL and GATEHOUSE_TOKEN.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator

import litellm
import openai
from litellm import CustomLLM
from litellm.llms.custom_llm import CustomLLMError
from litellm.types.utils import GenericStreamingChunk, ModelResponse

PROVIDER = "claude-da"
# The server stops after 240 s and says so; this is for one that does not.
TIMEOUT = 270.0
# What the server reads besides the messages.
PASSED_ON = ("user", "n", "tools", "functions", "response_format", "modalities")


class ClaudeDA(CustomLLM):
    """The four calls of a provider; the proxy uses the asynchronous ones."""

    async def acompletion(self, model, messages, model_response, **given) -> ModelResponse:
        async with _client(given) as client:
            try:
                completion = await client.chat.completions.create(**_request(model, messages, given))
            except openai.APIError as error:
                raise _told(error) from error
        reply = completion.model_dump()
        return ModelResponse(
            id=reply["id"],
            created=reply["created"],
            model=f"{PROVIDER}/{model}",
            choices=reply["choices"],
            usage=reply["usage"],
        )

    async def astreaming(self, model, messages, **given) -> AsyncIterator[GenericStreamingChunk]:
        async with _client(given) as client:
            request = _request(model, messages, given) | {"stream": True, "stream_options": {"include_usage": True}}
            finished, usage = None, None
            try:
                async for chunk in await client.chat.completions.create(**request):
                    usage = chunk.usage or usage
                    for choice in chunk.choices:
                        finished = choice.finish_reason or finished
                        if choice.delta.content:
                            yield _chunk(choice.delta.content)
            except openai.APIError as error:
                raise _told(error) from error
        if finished is None:
            raise CustomLLMError(status_code=502, message="[stream_cut] the answer broke off")
        yield _chunk("", finished, usage and usage.model_dump())

    def completion(self, *args, **given) -> ModelResponse:
        """For scripts that use LiteLLM as a library, outside of an event loop."""
        return asyncio.run(self.acompletion(*args, **given))

    def streaming(self, *args, **given) -> Iterator[GenericStreamingChunk]:
        """Likewise; the chunks come when all of them are there."""

        async def collect():
            return [chunk async for chunk in self.astreaming(*args, **given)]

        return iter(asyncio.run(collect()))


def _client(given) -> openai.AsyncOpenAI:
    base = given.get("api_base") or os.environ.get("GATEHOUSE_URL", "http://127.0.0.1:8080").rstrip("/") + "/v1"
    key = given.get("api_key") or os.environ.get("GATEHOUSE_TOKEN")
    if not key:
        raise CustomLLMError(status_code=401, message="[invalid_api_key] set GATEHOUSE_TOKEN, or `api_key` of the model")
    # Whoever calls LiteLLM decides about retries there.
    return openai.AsyncOpenAI(base_url=base, api_key=key, max_retries=0, timeout=TIMEOUT)


def _request(model, messages, given) -> dict:
    optional = given.get("optional_params") or {}
    passed = {name: optional[name] for name in PASSED_ON if optional.get(name) is not None}
    return {"model": f"{PROVIDER}/{model}", "messages": messages} | passed


def _chunk(text, finish_reason="", usage=None) -> GenericStreamingChunk:
    return GenericStreamingChunk(
        text=text,
        is_finished=bool(finish_reason),
        finish_reason=finish_reason,
        usage=usage,
        index=0,
        tool_use=None,
    )


def _told(error: openai.APIError) -> CustomLLMError:
    """The server's own words. In the middle of a stream there is no status: the code in the message has one."""
    message = str((error.body or {}).get("message", error) if isinstance(error.body, dict) else error)
    status = getattr(error, "status_code", None) or next((s for code, s in STATUS if f"[{code}]" in message), 502)
    return CustomLLMError(status_code=status, message=message)


STATUS = (
    ("input_too_long", 400),
    ("rate_limited", 429),
    ("database_unavailable", 503),
    ("query_timeout", 504),
    ("agent_timeout", 504),
)

handler = ClaudeDA()


def register() -> None:
    """For programs that use LiteLLM as a library; the proxy reads its configuration instead."""
    litellm.custom_provider_map = [{"provider": PROVIDER, "custom_handler": handler}]
