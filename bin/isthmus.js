#!/usr/bin/env node
// The command of a checkout. The package has its own: packages/cli/bin/isthmus.js.
import '../packages/cli/bin/isthmus.js';
