// node --test weather.node-test.js
import { test } from 'node:test';
import { testServer } from 'isthmus/check';
import { weather } from './weather.js';

// In this process: no port, no child. A test for every suite.
testServer(test, { server: weather }, { by: 'suite', suites: ['protocol', 'tools'], failOn: 'should' });
