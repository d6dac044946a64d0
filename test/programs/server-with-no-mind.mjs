// Its vice: it has no mind of its own. What it reads on stdin goes to a socket, and what comes from there it says
// on stdout: whoever listens on the socket plays the server, line by line.
// node server-with-no-mind.mjs <path of a Unix socket, or name of a pipe>
import { connect } from 'node:net';

const socket = connect(process.argv[2]);
process.stdin.pipe(socket);
socket.pipe(process.stdout);
// Whoever pulls the strings is gone, or whoever talks to us: there is nobody left to be.
socket.on('error', () => process.exit(0));
socket.on('close', () => process.exit(0));
process.stdout.on('error', () => process.exit(0));
