import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading, Problem } from '../parts/states.js';

/** A component that is loaded when it is first shown. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Later(props: Props) {
    const [state, setState] = useState<{
      readonly of?: ComponentType<Props> | undefined;
      readonly error?: unknown;
    }>({ of: loaded });
    useEffect(() => {
      if (loaded) return;
      load().then(
        (of) => {
          loaded = of;
          setState({ of });
        },
        (error) => setState({ error }),
      );
    }, []);
    if (state.error !== undefined)
      return (
        <Problem error="This screen could not be loaded.">
          <p>The process may have been replaced by another version. Load the page again.</p>
        </Problem>
      );
    const { of: Loaded } = state;
    return Loaded ? <Loaded {...props} /> : <Loading what="Loading the screen" />;
  };
}
