import { type ConnectOptions, connect, memory } from '@isthmus/sdk';
import { createDemoServer } from 'isthmus/internal/demo/demo-server.js';
import { expect, it, onTestFinished } from 'vitest';

const ANSWERS: ConnectOptions['answers'] = {
  elicit: () => ({ action: 'accept', content: { name: 'Grace' } }),
  sample: () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'Lyon' } }),
  roots: [{ uri: 'file:///srv' }, { uri: 'file:///opt', name: 'opt' }],
};

it.each(['modern', 'legacy'] as const)(
  'P9: the sampling and roots rounds of the demo say what a %s client answered',
  async (mode) => {
    const client = await connect(memory(createDemoServer()), { answers: ANSWERS, mode });
    onTestFinished(() => client.close());
    const text = async (tool: string) => (await client.callTool(tool, {})).content;
    expect(await text('test_input_required_result_sampling')).toEqual([
      { type: 'text', text: 'LLM response: Lyon' },
    ]);
    expect(await text('test_input_required_result_list_roots')).toEqual([
      { type: 'text', text: 'file:///srv\nfile:///opt' },
    ]);
    const all = 'Name: Grace\nLLM response: Lyon\nRoots: file:///srv\nfile:///opt';
    expect(await text('test_input_required_result_multiple_inputs')).toEqual([{ type: 'text', text: all }]);
    expect(await text('test_input_required_result_capabilities')).toEqual([{ type: 'text', text: all }]);
  },
);
