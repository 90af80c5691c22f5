/** All tests of the page, in one process: they share a browser and a server. Run by `make test`. */
import { after } from "node:test";
import { closeAll } from "./harness/visit.js";
import "./pure.test.js";
import "./ask.test.js";
import "./watch.test.js";
import "./see.test.js";
import "./trust.test.js";
import "./own.test.js";
import "./ops.test.js";
import "./ops-model.test.js";
import "./everyone.test.js";

after(closeAll);
