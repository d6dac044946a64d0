import { useEffect, useState } from 'preact/hooks';
import { firstState, textOfForm } from '../../forms/form.js';
import { isRecord } from '../../forms/schema.js';
import { CopyButton } from '../../parts/controls.js';
import { Panel } from '../../parts/layout.js';
import { Text } from '../../parts/text.js';
import { snippet } from '../../state/calls.js';
import { listOf } from '../../state/lists.js';

/** The command line that does the same as this page. */
export function TryLine() {
  const { items } = listOf('tools').value;
  const tool = items.find((item) => item['name'] === 'echo') ?? items[0];
  const [line, setLine] = useState('');
  const name = tool === undefined ? undefined : String(tool['name']);
  useEffect(() => {
    if (!tool || name === undefined) return;
    const schema = isRecord(tool['inputSchema']) ? tool['inputSchema'] : { type: 'object' };
    const params = `{"name":${JSON.stringify(name)},"arguments":${textOfForm({ ...firstState(schema), view: 'form' })}}`;
    snippet({ kind: 'cli', method: 'tools/call', params }).then(
      ({ text }) => setLine(text),
      () => setLine(''),
    );
  }, [name]);
  if (line === '') return null;
  return (
    <Panel title="The same from a terminal" side={<CopyButton text={() => line} />}>
      <pre class="bytes">
        <Text of={line} max={2000} />
      </pre>
    </Panel>
  );
}
