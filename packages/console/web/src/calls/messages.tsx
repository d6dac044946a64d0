import { plain } from '../parts/text.js';
import { Content } from './content.js';

/** The messages of a prompt, or of a sampling request. */
export function Messages({
  messages,
  onRead,
}: {
  readonly messages: readonly unknown[];
  readonly onRead?: ((uri: string) => void) | undefined;
}) {
  return (
    <ol class="messages">
      {messages.slice(0, 100).map((message, at) => {
        const { role, content } = (message ?? {}) as { readonly role?: unknown; readonly content?: unknown };
        return (
          <li key={at}>
            <span class="role">{plain(String(role ?? ''), 40)}</span>
            <Content blocks={Array.isArray(content) ? content : [content]} onRead={onRead} />
          </li>
        );
      })}
    </ol>
  );
}
