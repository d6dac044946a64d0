#!/usr/bin/env node
// A browser for BROWSER= that only writes down the URL that it was started with, as one does whose user is not there yet.
import { appendFileSync } from 'node:fs';

appendFileSync(process.env.BROWSER_LOG, `${process.argv[2]}\n`);
