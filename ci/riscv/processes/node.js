const { execSync, spawn } = require('child_process');
const net = require('net');
console.log(execSync('echo hi | tr a-z A-Z').toString().trim());
const cat = spawn('cat');
cat.stdout.on('data', (data) => console.log('cat ' + data));
cat.on('close', (code) => {
  console.log('closed', code);
  const server = net.createServer((peer) => peer.on('data', (data) => peer.end('got ' + data)));
  server.listen(5555, '127.0.0.1', () => {
    const client = net.connect(5555, '127.0.0.1', () => client.write('hello'));
    client.on('data', (data) => console.log(data.toString()));
    client.on('end', () => server.close());
  });
});
cat.stdin.end('abc');
