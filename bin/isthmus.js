#!/usr/bin/env node
import module from 'node:module';

// Node 22.8 and later keep compiled code between starts.
module.enableCompileCache?.();

const { main } = await import('../dist/cli/main.js');
await main(process.argv);
