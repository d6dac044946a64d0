import { expandTemplate, templateNames } from '../../forms/uri-template.js';
import { Address } from '../../parts/external.js';
import { Head, Panel } from '../../parts/layout.js';
import { About, plain, Text } from '../../parts/text.js';
import { type Item, keyOf } from '../../state/lists.js';
import { useDraft } from '../../state/typed/drafts.js';
import { CompletedInput } from './completed-input.js';
import { ReadUri } from './resource.js';

/** A template of RFC 6570: its values, with completion, and the address that comes out. */
export function Template({ item, server }: { readonly item: Item; readonly server: string | undefined }) {
  const template = String(item['uriTemplate'] ?? '');
  const names = templateNames(template);
  const [values, setValues] = useDraft<Readonly<Record<string, string>>>(
    `template ${server ?? ''} ${template}`,
    () => ({}),
  );
  const uri = expandTemplate(template, values);
  const set = (name: string, value = '') => {
    const { [name]: _, ...rest } = values;
    setValues(value === '' ? rest : { ...rest, [name]: value });
  };
  return (
    <div class="stack wide-gap">
      <Head title={plain(keyOf(item), 120)} sub={<Address url={template} open={false} />}>
        {typeof item['mimeType'] === 'string' && (
          <span class="badge soft">{plain(item['mimeType'], 60)}</span>
        )}
      </Head>
      <About text={item['description']} />
      <Panel label="Values of the template">
        <div class="fields">
          {names.map((name) => (
            <CompletedInput
              key={name}
              name={name}
              value={(Object.hasOwn(values, name) ? values[name] : undefined) ?? ''}
              values={values}
              reference={{ type: 'ref/resource', uri: template }}
              server={server}
              onChange={(value) => set(name, value)}
            />
          ))}
        </div>
        <p>
          <span class="soft">address </span>
          <code>
            <Text of={uri} max={500} />
          </code>
        </p>
      </Panel>
      <ReadUri uri={uri} server={server} isBlocked={names.length > 0 && Object.keys(values).length === 0} />
    </div>
  );
}
