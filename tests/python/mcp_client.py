"""The MCP client of its makers against the house, prints JSON. What to call is read from stdin: [[tool, arguments], ...]

mcp_client.py http MODE URL TOKEN
mcp_client.py stdio MODE COMMAND...

MODE is "legacy" (with a handshake) or "auto" (the newest protocol that both sides know).
"""

import asyncio
import json
import sys

import httpx2
import mcp
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

transport, mode, *where = sys.argv[1:]


def reach():
    if transport == "stdio":
        return stdio_client(StdioServerParameters(command=where[0], args=where[1:]))
    url, token = where
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return streamable_http_client(url, http_client=httpx2.AsyncClient(headers=headers, timeout=60))


async def call(client, name, arguments):
    try:
        result = await client.call_tool(name, arguments)
    except mcp.MCPError as error:
        return {"error": {"code": error.error.code, "message": error.error.message, "data": error.error.data}}
    return {"is_error": result.is_error, "text": "".join(block.text for block in result.content)}


async def talk(calls):
    async with mcp.Client(reach(), mode=mode) as client:
        listed = await client.list_tools()
        return {
            "server": client.server_info.name,
            "protocol": client.protocol_version,
            "tools": [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools],
            "calls": [await call(client, *one) for one in calls],
        }


def causes(error):
    """What an error comes down to, however it is wrapped."""
    inner = getattr(error, "exceptions", None) or [e for e in (error.__cause__, error.__context__) if e]
    return [cause for one in inner for cause in causes(one)] or [f"{type(error).__name__}: {error}"]


try:
    print(json.dumps(asyncio.run(talk(json.load(sys.stdin)))))
except BaseException as error:
    print(json.dumps({"failed": causes(error)}))
