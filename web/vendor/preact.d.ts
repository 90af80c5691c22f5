import type { VNode } from "preact";

export { render } from "preact";
export { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
export declare const html: (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
