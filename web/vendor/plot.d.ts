export * from "@observablehq/plot";
