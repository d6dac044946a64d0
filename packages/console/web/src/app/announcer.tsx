import { useEffect, useState } from 'preact/hooks';
import { plural } from '../parts/format.js';
import { questions, rows } from '../state/store.js';

/** Says for screen readers what has come: questions at once, frames at most every 5 s. */
export function Announcer() {
  const [frames, setFrames] = useState('');
  useEffect(() => {
    let before = rows.end;
    let errorsBefore = rows.errors;
    const timer = setInterval(() => {
      const fresh = rows.end - before;
      const errors = rows.errors - errorsBefore;
      before = rows.end;
      errorsBefore = rows.errors;
      if (fresh > 0)
        setFrames(`${plural(fresh, 'frame')}${errors > 0 ? `, ${plural(errors, 'error')}` : ''}`);
    }, 5000);
    return () => clearInterval(timer);
  }, []);
  const open = questions.all.value;
  return (
    <>
      <div role="status" class="unseen">
        {frames}
      </div>
      <div role="status" class="unseen">
        {open.length > 0
          ? `${open.length === 1 ? '1 question waits' : `${open.length} questions wait`}. The newest is from ${open.at(-1)!.asker.slice(0, 80)}.`
          : ''}
      </div>
    </>
  );
}
