import type { VNode } from "preact";

export * from "preact";
export * from "preact/hooks";
export declare const html: (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
