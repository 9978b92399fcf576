#include "us_change_rig.h"
int main(void){return 0;}
