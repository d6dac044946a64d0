#!/usr/bin/env node
// The command of a checkout. The package has its own: packages/cli/bin/isthmus.js.
require('../packages/cli/bin/isthmus.js');
